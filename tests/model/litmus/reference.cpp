#include "tests/model/litmus/reference.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "model/stamps.hpp"
#include "tests/model/litmus/reference_traces.hpp"

namespace loco::model::litmus::test {
namespace {

constexpr int kInit = -1;

using Matrix = std::array<std::uint64_t, 64>;

class Reference {
 public:
  Reference(const Program& p, std::string model, std::uint64_t limit)
      : p_(p), model_(std::move(model)), limit_(limit) {}

  ReferenceResult run() {
    Traces traces = unfold(p_, model_, limit_);
    traces_ = std::move(traces.by_thread);
    work_ = traces.work;
    result_.gave_up = traces.gave_up;
    choose_thread(0);
    result_.outcomes.assign(outcomes_.begin(), outcomes_.end());
    return result_;
  }

 private:
  int node_of(int thread) const { return at(p_.threads, thread).node; }
  int cell(int location, int node) const { return cell_of(p_, location, node); }
  Value init(int cell) const { return at(p_.locations, cell / 1000).init; }

  // --- the product of the threads' traces, then of rf, mo, nfo ---
  void choose_thread(int t) {
    if (result_.gave_up) return;
    if (t == len(traces_)) return join();
    for (const Trace& trace : at(traces_, t)) {
      chosen_.push_back(&trace);
      choose_thread(t + 1);
      chosen_.pop_back();
    }
  }

  void join() {
    events_.clear();
    subs_.clear();
    for (const Trace* t : chosen_) {
      const int offset = len(events_);
      for (const Event& e : t->events) events_.push_back(e);
      for (Sub s : t->subs) {
        s.event += offset;
        subs_.push_back(s);
      }
    }
    n_ = len(subs_);
    if (n_ > 64) {
      result_.gave_up = true;
      return;
    }
    if (!well_formed_calls()) return;
    rf_.assign(static_cast<std::size_t>(n_), kInit);
    choose_rf(0);
  }

  const Event& ev(int s) const { return at(events_, at(subs_, s).event); }
  const Sub& sub(int s) const { return at(subs_, s); }
  bool po(int a, int b) const { return ev(a).thread == ev(b).thread && sub(a).event < sub(b).event; }
  bool is(int s, Stamp k) const { return sub(s).core.empty() && sub(s).stamp == k; }
  bool same_library(int a, int b) const { return ev(a).i->library == ev(b).i->library; }

  void choose_rf(int r) {
    if (++work_ > limit_) result_.gave_up = true;
    if (result_.gave_up) return;
    while (r < n_ && !sub(r).r) ++r;
    if (r == n_) {
      mo_.clear();
      std::set<int> cells;
      for (const Sub& s : subs_)
        if (s.w && s.cell != kNone) cells.insert(s.cell);
      cells_.assign(cells.begin(), cells.end());
      return choose_mo(0);
    }
    if (sub(r).read == init(sub(r).cell)) {
      at(rf_, r) = kInit;
      choose_rf(r + 1);
    }
    for (int w = 0; w < n_; ++w)
      if (sub(w).w && sub(w).cell == sub(r).cell && sub(w).written == sub(r).read) {
        at(rf_, r) = w;
        choose_rf(r + 1);
      }
    at(rf_, r) = kInit;
  }

  void choose_mo(int c) {
    if (result_.gave_up) return;
    if (c == len(cells_)) {
      nfo_pairs_.clear();
      if (!is_corerma(model_))
        for (int a = 0; a < n_; ++a)
          for (int b = 0; b < n_; ++b) {
            if (ev(a).thread != ev(b).thread || sub(a).node != sub(b).node) continue;
            if (ev(a).i->library == Library::sv || !same_library(a, b)) continue;
            if ((is(a, Stamp::aNLR) && is(b, Stamp::aNLW)) || (is(a, Stamp::aNRR) && is(b, Stamp::aNRW)))
              nfo_pairs_.emplace_back(a, b);
          }
      std::set<int> units;
      for (int s = 0; s < n_; ++s)
        if (is(s, Stamp::aNAR)) units.insert(sub(s).node);
      units_.assign(units.begin(), units.end());
      rao_.clear();
      return choose_rao(0);
    }
    std::vector<int> writes;
    for (int w = 0; w < n_; ++w)
      if (sub(w).w && sub(w).cell == at(cells_, c)) writes.push_back(w);
    do {
      mo_.push_back(writes);
      choose_mo(c + 1);
      mo_.pop_back();
    } while (!result_.gave_up && std::next_permutation(writes.begin(), writes.end()));
  }

  /// A total order of the atomics of each node.
  void choose_rao(int u) {
    if (result_.gave_up) return;
    if (u == len(units_)) {
      for (std::uint64_t bits = 0; bits < std::uint64_t{1} << nfo_pairs_.size(); ++bits) {
        if (++work_ > limit_) result_.gave_up = true;
        if (result_.gave_up) return;
        check(bits);
      }
      return;
    }
    std::vector<int> atomics;
    for (int s = 0; s < n_; ++s)
      if (is(s, Stamp::aNAR) && sub(s).node == at(units_, u)) atomics.push_back(s);
    do {
      rao_.push_back(atomics);
      choose_rao(u + 1);
      rao_.pop_back();
    } while (!result_.gave_up && std::next_permutation(atomics.begin(), atomics.end()));
  }

  // --- consistency ---
  static void put(Matrix& m, int a, int b) { m[static_cast<std::size_t>(a)] |= std::uint64_t{1} << b; }
  static bool has(const Matrix& m, int a, int b) { return ((m[static_cast<std::size_t>(a)] >> b) & 1) != 0; }
  Matrix closure(Matrix m) const {
    for (int k = 0; k < n_; ++k)
      for (int i = 0; i < n_; ++i)
        if (has(m, i, k)) m[static_cast<std::size_t>(i)] |= m[static_cast<std::size_t>(k)];
    return m;
  }
  bool reflexive(const Matrix& m) const {
    for (int i = 0; i < n_; ++i)
      if (has(m, i, i)) return true;
    return false;
  }
  bool mo(int a, int b) const {
    for (const auto& order : mo_) {
      const auto ia = std::find(order.begin(), order.end(), a), ib = std::find(order.begin(), order.end(), b);
      if (ia != order.end() && ib != order.end()) return ia < ib;
    }
    return false;
  }
  bool rb(int r, int w) const {
    return r != w && sub(r).r && sub(w).w && sub(r).cell == sub(w).cell && (at(rf_, r) == kInit || mo(at(rf_, r), w));
  }

  bool ppo(int a, int b) const {
    if (!po(a, b)) return false;
    const Cell c = kStampOrder.cell(sub(a).stamp, sub(b).stamp);
    return c == Cell::yes || (c == Cell::same_node && sub(a).node == sub(b).node);
  }

  void check(std::uint64_t nfo_bits) {
    if (!(is_corerma(model_) ? core_consistent() : loco_consistent(nfo_bits))) return;
    ++result_.witnesses;
    if (result_.robust && !sequential()) result_.robust = false;
    Outcome o;
    for (const Observable& x : p_.observables) {
      if (x.thread != kNone) {
        o.push_back(at(at(chosen_, x.thread)->registers, x.reg));
        continue;
      }
      const int c = cell(x.location, x.node);
      Value v = init(c);
      for (int k = 0; k < len(cells_); ++k)
        if (at(cells_, k) == c) v = sub(at(mo_, k).back()).written;
      o.push_back(v);
    }
    outcomes_.insert(o);
  }

  /// The trace: program order and what comes from rf and mo. An atomic that writes is one point: its aNAR.
  bool sequential() const {
    Matrix m{};
    const auto point = [&](int s) {
      for (int r = 0; r < n_; ++r)
        if (is(s, Stamp::aNRW) && is(r, Stamp::aNAR) && sub(r).event == sub(s).event) return r;
      return s;
    };
    const auto edge = [&](int a, int b) {
      if (point(a) != point(b)) put(m, point(a), point(b));
    };
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b) {
        if (ev(a).thread == ev(b).thread && a < b) edge(a, b);
        if (sub(b).r && at(rf_, b) == a) edge(a, b);
        if (rb(a, b)) edge(a, b);
        if (sub(a).w && sub(b).w && mo(a, b)) edge(a, b);
      }
    return !reflexive(closure(m));
  }

  bool loco_consistent(std::uint64_t nfo_bits) {
    Matrix hb{};
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (ppo(a, b)) put(hb, a, b);
    if (!rdma(nfo_bits, hb) || !shared_variables(hb)) return false;
    barriers(hb);
    if (!rings(hb)) return false;
    return !reflexive(closure(hb));
  }

  /// Appendix G.1 and G.2. Adds so to hb; false if ib is not irreflexive.
  bool rdma(std::uint64_t nfo_bits, Matrix& hb) {
    Matrix ib{}, so{};
    const auto in = [&](int s) { return ev(s).i->library == Library::rdmawait; };
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b) {
        if (!in(a) || !in(b)) continue;
        const bool same_node = sub(a).node == sub(b).node;
        bool i = ppo(a, b), s = false;
        if (po(a, b) && is(a, Stamp::aCW) && (is(b, Stamp::aCR) || is(b, Stamp::aWT))) i = true;
        if (po(a, b) && (is(a, Stamp::aNRW) || is(a, Stamp::aNLW)) && is(b, Stamp::aRF) && same_node) i = true;
        if (sub(a).event == sub(b).event) {  // iso
          const bool iso = (is(a, Stamp::aMF) && is(b, Stamp::aCR)) || (is(a, Stamp::aNRR) && is(b, Stamp::aNLW)) ||
                           (is(a, Stamp::aNLR) && is(b, Stamp::aNRW)) ||
                           (is(a, Stamp::aNAR) && (is(b, Stamp::aNRW) || is(b, Stamp::aNLW)));
          i = i || iso;
          s = s || iso;
        }
        if (sub(b).r && at(rf_, b) == a) {
          const bool internal = is(a, Stamp::aCW) && is(b, Stamp::aCR) && po(a, b);
          i = true;
          s = s || !internal;
        }
        if (po(a, b) && is(b, Stamp::aWT)) {
          const Instruction& operation = *ev(a).i;
          const Instruction& w = *ev(b).i;
          if (w.op == Op::wait && operation.work_id == w.work_id && operation.work_id != kNone) {
            if (is(a, Stamp::aNLW)) i = s = true;  // pfg
            if (is(a, Stamp::aNRW)) i = true;      // pfp
          }
          if (w.op == Op::poll && polled(b) == sub(a).event && (is(a, Stamp::aNLW) || is(a, Stamp::aNRW))) {
            i = true;
            s = s || is(a, Stamp::aNLW);
          }
        }
        if (rb(a, b)) {
          s = true;
          if (is(a, Stamp::aCR) && is(b, Stamp::aCW) && (po(a, b) || po(b, a))) i = true;
        }
        if (sub(a).w && sub(b).w && mo(a, b)) s = true;
        if (i) put(ib, a, b);
        if (s) put(so, a, b);
      }
    for (std::size_t k = 0; k < nfo_pairs_.size(); ++k) {
      auto [a, b] = nfo_pairs_[k];
      if (((nfo_bits >> k) & 1) != 0) std::swap(a, b);
      put(ib, a, b);
      put(so, a, b);
    }
    for (const std::vector<int>& order : rao_)
      for (std::size_t k = 0; k < order.size(); ++k)
        for (std::size_t l = k + 1; l < order.size(); ++l)
          for (int w = 0; w < n_; ++w)
            if (w == order[k] || (sub(w).event == sub(order[k]).event && is(w, Stamp::aNRW))) put(so, w, order[l]);
    ib = closure(ib);
    if (reflexive(ib)) return false;
    for (int a = 0; a < n_; ++a) {
      hb[static_cast<std::size_t>(a)] |= so[static_cast<std::size_t>(a)];
      if (in(a) && !is(a, Stamp::aCW) && !is(a, Stamp::aNLW) && !is(a, Stamp::aNRW))
        hb[static_cast<std::size_t>(a)] |= ib[static_cast<std::size_t>(a)];
    }
    return true;
  }

  /// The event that a poll polls: the oldest operation towards its node that no earlier poll took.
  int polled(int poll) const {
    int earlier_polls = 0;
    for (int p = 0; p < n_; ++p)
      if (po(p, poll) && ev(p).i->op == Op::poll && ev(p).i->node == ev(poll).i->node) ++earlier_polls;
    int last = kNone;  // an atomic may have two such writes
    for (int w = 0; w < n_; ++w)
      if (po(w, poll) && (is(w, Stamp::aNLW) || is(w, Stamp::aNRW)) && sub(w).node == ev(poll).i->node) {
        if (sub(w).event == last) continue;
        last = sub(w).event;
        if (earlier_polls-- == 0) return last;
      }
    return kNone;
  }

  /// Definition 3.8.
  bool shared_variables(Matrix& hb) const {
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b) {
        if (ev(a).i->library != Library::sv || ev(b).i->library != Library::sv) continue;
        bool s = sub(a).event == sub(b).event && is(a, Stamp::aNLR) && is(b, Stamp::aNRW) && sub(a).node == sub(b).node;
        if (sub(b).r && at(rf_, b) == a && !(is(a, Stamp::aCW) && is(b, Stamp::aCR) && po(a, b))) s = true;
        if (po(a, b) && is(a, Stamp::aNLR) && is(b, Stamp::aWT) && ev(a).i->work_id == ev(b).i->work_id) s = true;
        if (rb(a, b)) {
          if (is(a, Stamp::aCR) && is(b, Stamp::aCW) && po(b, a)) return false;
          s = true;
        }
        if (sub(a).w && sub(b).w && mo(a, b)) s = true;
        if (s) put(hb, a, b);
      }
    return true;
  }

  int ordinal(int s) const {  // o of Definition 4.1
    int k = 0;
    for (int e = 0; e < sub(s).event; ++e)
      if (at(events_, e).thread == ev(s).thread && at(events_, e).i->op == Op::barrier &&
          at(events_, e).i->object == ev(s).i->object)
        ++k;
    return k;
  }
  void barriers(Matrix& hb) const {
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (ev(a).i->op == Op::barrier && ev(b).i->op == Op::barrier && ev(a).i->object == ev(b).i->object &&
            is(a, Stamp::aGF) && is(b, Stamp::aCR) && ordinal(a) == ordinal(b))
          put(hb, a, b);
  }

  /// Definitions 5.1 and 5.2: the only rf that skips no message pairs the k-th receive with the k-th submit.
  bool rings(Matrix& hb) const {
    for (int f = 0; f < n_; ++f) {
      const Event& receive = ev(f);
      if (receive.i->op != Op::receive) continue;
      const int node = node_of(receive.thread);
      int before = 0;  // messages that the thread received earlier
      for (int e = 0; e < sub(f).event; ++e)
        if (at(events_, e).thread == receive.thread && at(events_, e).i->op == Op::receive &&
            at(events_, e).i->object == receive.i->object && at(events_, e).result != kEmpty)
          ++before;
      int k = 0;
      bool found = false;
      for (int w = 0; w < n_; ++w) {
        const Event& submit = ev(w);
        if (submit.i->op != Op::submit || submit.i->object != receive.i->object || submit.result != kTrue) continue;
        if (is(w, Stamp::aCW) ? node_of(submit.thread) != node : sub(w).node != node) continue;
        if (receive.result == kEmpty) {
          if (k >= before) put(hb, f, w);
        } else if (k == before) {
          if (sub(w).written != receive.result) return false;
          put(hb, w, f);
          found = true;
        }
        ++k;
      }
      if (receive.result != kEmpty && !found) return false;
    }
    return true;
  }

  /// What does not depend on rf, mo, nfo: polls find something, barriers are called equally often.
  bool well_formed_calls() const {
    for (int s = 0; s < n_; ++s)
      if (ev(s).i->op == Op::poll && polled(s) == kNone) return false;
    for (int z = 0; z < len(p_.barriers); ++z) {
      std::set<int> counts;
      for (const int t : at(p_.barriers, z).participants) {
        int c = 0;
        for (const Event& e : events_)
          if (e.thread == t && e.i->op == Op::barrier && e.i->object == z) ++c;
        counts.insert(c);
      }
      if (counts.size() > 1) return false;
    }
    return true;
  }

  /// coreRMA, Fig. 4, all accesses atomic. WS: mo is hb on the writes of a location.
  bool core_consistent() const {
    Matrix hb{};
    const auto kind = [&](int s) { return sub(s).core; };
    const auto local = [&](int s) { return kind(s) == "r" || kind(s) == "w"; };
    const auto external = [&](int s) { return kind(s) == "er" || kind(s) == "ew" || kind(s) == "erw"; };
    const auto remote = [&](int s) {
      const Op op = ev(s).i->op;
      return kind(s) == "erw" || (op == Op::put && kind(s) == "ew") || (op == Op::get && kind(s) == "er");
    };
    const auto dst = [&](int s) { return ev(s).i->node; };
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b) {
        bool h = false;
        if (sub(a).event == sub(b).event && a < b && kind(b) != "er") h = true;  // PG, GA, CAS: Fig. 4
        if (po(a, b)) {
          if (local(a)) h = true;
          if (kind(a) == "flush" && local(b)) h = true;
          if (external(a) && kind(b) == "flush" && dst(a) == dst(b)) h = true;
          if (kind(a) == "flush" && external(b) && dst(a) == dst(b)) h = true;
          if (remote(a) && remote(b) && dst(a) == dst(b) && dst(a) != node_of(ev(a).thread)) {
            const Op oa = ev(a).i->op, ob = ev(b).i->op;
            if (model_ == "corerma") h = true;
            if (model_ == "corerma-verbs" && oa == ob && (oa == Op::put || oa == Op::get)) h = true;
          }
        }
        if (sub(b).r && at(rf_, b) == a) h = true;
        if (rb(a, b)) h = true;
        if (sub(a).w && sub(b).w && mo(a, b)) h = true;
        if (h) put(hb, a, b);
      }
    return !reflexive(closure(hb));
  }

  const Program& p_;
  std::string model_;
  std::uint64_t limit_;
  std::uint64_t work_ = 0;
  std::vector<std::vector<Trace>> traces_;
  std::vector<const Trace*> chosen_;
  std::vector<Event> events_;
  std::vector<Sub> subs_;
  int n_ = 0;
  std::vector<int> rf_;
  std::vector<int> cells_;
  std::vector<std::vector<int>> mo_;
  std::vector<std::pair<int, int>> nfo_pairs_;
  std::vector<int> units_;             // nodes with atomics
  std::vector<std::vector<int>> rao_;  // by unit
  std::set<Outcome> outcomes_;
  ReferenceResult result_;
};

}  // namespace

ReferenceResult reference(const Program& program, const std::string& model, std::uint64_t candidates_max) {
  return Reference(program, model, candidates_max).run();
}

}  // namespace loco::model::litmus::test
