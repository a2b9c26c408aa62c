#include "tests/model/reference.hpp"

#include <algorithm>
#include <bitset>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "model/stamps.hpp"

namespace loco::model::test {
namespace {

constexpr std::size_t kMax = 1024;

class Relation {
 public:
  explicit Relation(std::size_t n) : rows_(n) {}
  void add(std::size_t a, std::size_t b) { rows_[a].set(b); }
  [[nodiscard]] bool has(std::size_t a, std::size_t b) const { return rows_[a][b]; }
  void unite(const Relation& other) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] |= other.rows_[i];
  }
  void close() {
    for (std::size_t k = 0; k < rows_.size(); ++k)
      for (auto& row : rows_)
        if (row[k]) row |= rows_[k];
  }
  [[nodiscard]] bool irreflexive() const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i][i]) return false;
    return true;
  }

 private:
  std::vector<std::bitset<kMax>> rows_;
};

struct Sub {
  CallId event = 0;
  Library library = Library::rdmawait;
  std::uint32_t thread = 0;
  Stamp stamp = Stamp::aCR;
  std::uint32_t peer = 0;
  SubeventId id = 0;
};

bool reads_memory(Stamp s) {
  return s == Stamp::aCR || s == Stamp::aCAS || s == Stamp::aNLR || s == Stamp::aNRR || s == Stamp::aNAR;
}
bool writes_memory(Stamp s) { return s == Stamp::aCW || s == Stamp::aCAS || s == Stamp::aNLW || s == Stamp::aNRW; }
bool inst(Stamp s) { return s != Stamp::aCW && s != Stamp::aNLW && s != Stamp::aNRW; }

class Reference {
 public:
  Reference(const Trace& trace, unsigned libraries) : t_(trace), libraries_(libraries) {}

  bool consistent() {
    rank();
    if (!causal()) return false;
    collect();
    for (std::size_t i = 0; i < subs_.size(); ++i)
      if (subs_[i].id != 0) shown_[subs_[i].id] = i;
    for (const Subevent& s : t_.subevents)
      if (is_unbegun(s) && s.finish != kNever) {
        Seq& known = known_.try_emplace(call(s.call).thread, kNever).first->second;
        known = std::min(known, s.finish);
      }
    if (subs_.size() > kMax) throw std::length_error("too many subevents for the reference checker");
    const std::size_t n = subs_.size();
    Relation ppo(n), so(n), ib(n);
    program_order(ppo, ib);
    if (!memory(so, ib)) return false;
    if (!completion(so, ib)) return false;
    flushes(so, ib);
    atomics(so);
    if (!barriers(so)) return false;
    ib.close();
    if (!ib.irreflexive()) return false;
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        if (ib.has(a, b) && inst(subs_[a].stamp)) so.add(a, b);
    so.unite(ppo);
    so.close();
    return so.irreflexive();
  }

 private:
  const Call& call(CallId c) const { return t_.calls[c - 1]; }
  const Subevent& sub(const Sub& s) const { return t_.subevents[s.id - 1]; }
  bool unbegun(const Sub& s) const { return s.id != 0 && sub(s).start == kNever; }
  bool failed(const Sub& s) const { return unbegun(s) && sub(s).finish != kNever; }

  static bool nic_reads(Stamp s) { return s == Stamp::aNLR || s == Stamp::aNRR || s == Stamp::aNAR; }
  static bool nic_writes(Stamp s) { return s == Stamp::aNRW || s == Stamp::aNLW; }

  /// Do they belong together: a word that a call reads, and the one that it writes with that? The k-th by address each.
  bool copies(SubeventId r, SubeventId w) const {
    const Subevent &x = t_.subevents[r - 1], &y = t_.subevents[w - 1];
    return x.call == y.call && nic_reads(x.stamp) && nic_writes(y.stamp) && rank_[r - 1] == rank_[w - 1];
  }
  void rank() {
    rank_.assign(t_.subevents.size(), 0);
    for (std::size_t a = 0; a < t_.subevents.size(); ++a)
      for (const Subevent& other : t_.subevents) {
        const Subevent& s = t_.subevents[a];
        if (other.call == s.call && other.stamp == s.stamp && other.address < s.address) ++rank_[a];
      }
  }

  /// Nothing is read that was not written by then, and a word is not written before the read that it is fed by.
  bool causal() const {
    for (SubeventId id = 1; id <= t_.subevents.size(); ++id) {
      const Subevent& s = t_.subevents[id - 1];
      if (s.start == kNever) continue;
      if (reads_memory(s.stamp) && s.source != 0 && t_.subevents[s.source - 1].start > s.finish) return false;
      if (!nic_writes(s.stamp)) continue;
      for (SubeventId r = 1; r <= t_.subevents.size(); ++r)
        if (copies(r, id) && t_.subevents[r - 1].start > s.start) return false;
    }
    return true;
  }

  /// Is y called by a thread that knows already that x has failed?
  bool after_failure(const Sub& x, const Sub& y) const {
    return failed(x) && call(y.event).begin >= known_.at(x.thread);
  }

  CallId event_of(CallId c) const {
    if (events_.empty()) {
      for (CallId id = 1; id <= t_.calls.size(); ++id) events_.push_back(find_event(id));
    }
    return events_[c - 1];
  }
  CallId find_event(CallId c) const {
    CallId event = 0;
    for (; c != 0; c = call(c).parent)
      if ((libraries_ >> static_cast<unsigned>(call(c).library) & 1U) != 0 && !base_wait(call(c))) event = c;
    return event;
  }

  /// A wait of sv for a work id that no broadcast of the thread has used: it belongs to rdmawait.
  bool base_wait(const Call& c) const {
    if (c.method != Method::sv_wait) return false;
    return std::none_of(t_.calls.begin(), t_.calls.end(), [&](const Call& other) {
      return other.method == Method::bcast && other.thread == c.thread && other.work_id == c.work_id;
    });
  }

  /// Has the global fence within a barrier returned?
  bool global_fence_returned(CallId barrier) const {
    return std::any_of(t_.calls.begin(), t_.calls.end(), [&](const Call& other) {
      return other.method == Method::gf && other.parent == barrier && other.returned;
    });
  }

  /// Is it made of a global fence alone, which has not returned?
  bool ended_in_fence(CallId barrier) const {
    bool fence = false;
    for (const Call& other : t_.calls) {
      if (other.parent != barrier) continue;
      if (other.method != Method::gf || other.returned) return false;
      fence = true;
    }
    return fence;
  }

  void collect() {
    for (CallId c = 1; c <= t_.calls.size(); ++c) {
      if (event_of(c) != c) continue;
      const Call& k = call(c);
      const auto add = [&](Stamp stamp, std::uint32_t peer, SubeventId id) {
        subs_.push_back({c, k.library, k.thread, stamp, peer, id});
      };
      bool waited = false;
      for (SubeventId id = 1; id <= t_.subevents.size(); ++id) {
        const Subevent& s = t_.subevents[id - 1];
        if (event_of(s.call) != c) continue;
        if (s.stamp == Stamp::aWT) waited = true;
        const bool mine = k.library == Library::rdmawait || (k.method == Method::sv_write && s.stamp == Stamp::aCW) ||
                          (k.method == Method::sv_read && s.stamp == Stamp::aCR) ||
                          (k.method == Method::bcast && (s.stamp == Stamp::aNLR || s.stamp == Stamp::aNRW));
        if (mine) add(s.stamp, s.peer, id);
      }
      if (k.method == Method::sv_wait && (waited || k.returned)) add(Stamp::aWT, 0, 0);
      if (k.method == Method::gf && k.returned)
        for (const std::uint32_t node : t_.node_sets[k.node_set]) add(Stamp::aGF, node, 0);
      if (k.method == Method::barrier && (k.returned || global_fence_returned(c))) {
        std::set<std::uint32_t> nodes;
        for (const std::uint32_t p : t_.objects[k.object].participants) nodes.insert(t_.threads[p].node);
        if (t_.objects[k.object].transitive)
          for (std::uint32_t node = 0; node < t_.nodes; ++node) nodes.insert(node);
        for (const std::uint32_t node : nodes) add(Stamp::aGF, node, 0);
        if (k.returned) add(Stamp::aCR, 0, 0);
      }
    }
  }

  bool po(const Sub& a, const Sub& b) const { return a.thread == b.thread && a.event < b.event; }

  void program_order(Relation& ppo, Relation& ib) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (!po(x, y) || after_failure(x, y)) continue;
        const bool same_node = is_family(x.stamp) && is_family(y.stamp) && x.peer == y.peer;
        const bool ordered = kStampOrder.ordered(x.stamp, y.stamp, same_node);
        if (ordered) ppo.add(a, b);
        if (x.library != Library::rdmawait || y.library != Library::rdmawait) continue;
        const bool b1_b5 = x.stamp == Stamp::aCW && (y.stamp == Stamp::aCR || y.stamp == Stamp::aWT);
        const bool g10_i10 =
            (x.stamp == Stamp::aNRW || x.stamp == Stamp::aNLW) && y.stamp == Stamp::aRF && x.peer == y.peer;
        if (ordered || b1_b5 || g10_i10) ib.add(a, b);
      }
  }

  bool same_word(const Sub& a, const Sub& b) const {
    return sub(a).node == sub(b).node && sub(a).address == sub(b).address;
  }

  /// mo, from the overwritten links; unfinished writes come last, by start.
  bool mo(const Sub& a, const Sub& b) const {
    if (a.id == b.id || !same_word(a, b)) return false;
    if (unbegun(a) || unbegun(b)) return !unbegun(a);
    const bool a_done = sub(a).finish != kNever, b_done = sub(b).finish != kNever;
    if (a_done != b_done) return a_done;
    if (!a_done) return std::pair(sub(a).start, a.id) < std::pair(sub(b).start, b.id);
    for (SubeventId w = sub(b).overwrote; w != 0; w = t_.subevents[w - 1].overwrote)
      if (w == a.id) return true;
    return false;
  }

  bool memory(Relation& so, Relation& ib) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (x.id == 0 || y.id == 0) continue;
        const bool base = x.library == Library::rdmawait && y.library == Library::rdmawait;
        if (writes_memory(x.stamp) && writes_memory(y.stamp) && mo(x, y)) so.add(a, b);
        if (writes_memory(x.stamp) && reads_memory(y.stamp) && feeds(x, y)) {
          const bool internal = x.stamp == Stamp::aCW && y.stamp == Stamp::aCR && po(x, y);
          if (!internal) so.add(a, b);
          if (base) ib.add(a, b);
        }
        if (reads_memory(x.stamp) && writes_memory(y.stamp) && x.id != y.id && same_word(x, y) && reads_before(x, y)) {
          so.add(a, b);
          if (x.stamp == Stamp::aCR && y.stamp == Stamp::aCW && x.thread == y.thread) {
            if (base && (po(x, y) || po(y, x))) ib.add(a, b);
            // sv: a thread sees its own writes
            if (x.library == Library::sv && y.library == Library::sv && po(y, x)) return false;
          }
        }
      }
    within_calls(so, ib);
    return true;
  }

  /// Is y's value x's? A read that has not been made finds the last of the writes that had begun.
  bool feeds(const Sub& x, const Sub& y) const {
    if (!unbegun(y)) return sub(y).source == x.id;
    if (unbegun(x) || !same_word(x, y)) return false;
    return std::none_of(subs_.begin(), subs_.end(), [&](const Sub& other) {
      return other.id != 0 && writes_memory(other.stamp) && !unbegun(other) && mo(x, other);
    });
  }

  bool reads_before(const Sub& r, const Sub& w) const {
    if (unbegun(r)) return false;
    if (sub(r).source == 0) return true;
    const auto source = shown_.find(sub(r).source);
    return source != shown_.end() && mo(subs_[source->second], w);
  }

  /// iso: a word of a base call with the one that it feeds; fence then read of a failing CAS.
  void within_calls(Relation& so, Relation& ib) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (x.id == 0 || y.id == 0 || sub(x).call != sub(y).call) continue;
        const bool cas = x.stamp == Stamp::aMF && y.stamp == Stamp::aCR;
        if (!copies(x.id, y.id) && !cas) continue;
        so.add(a, b);
        if (x.library == Library::rdmawait) ib.add(a, b);
      }
  }

  /// False when a wait has returned for what was not done.
  bool completion(Relation& so, Relation& ib) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (!po(x, y) || y.stamp != Stamp::aWT || x.library != y.library) continue;
        const std::uint64_t d = call(x.event).work_id;
        if (d == 0 || d != call(y.event).work_id) continue;
        if (failed(x)) continue;
        if (unbegun(x) && x.library == Library::rdmawait && !has_failed_part(x.event)) return false;
        if (x.library == Library::sv) {
          if (x.stamp == Stamp::aNLR) so.add(a, b);  // pf
        } else if (x.stamp == Stamp::aNLW) {
          so.add(a, b);  // pfg
          ib.add(a, b);
        } else if (x.stamp == Stamp::aNRW) {
          ib.add(a, b);  // pfp
        }
      }
    return true;
  }

  bool has_failed_part(CallId event) const {
    return std::any_of(subs_.begin(), subs_.end(), [&](const Sub& s) { return s.event == event && failed(s); });
  }

  void flushes(Relation& so, Relation& ib) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &r = subs_[a], &w = subs_[b];
        if (r.library != Library::rdmawait || w.library != Library::rdmawait || r.thread != w.thread ||
            r.peer != w.peer)
          continue;
        const bool pair =
            (r.stamp == Stamp::aNLR && w.stamp == Stamp::aNLW) || (r.stamp == Stamp::aNRR && w.stamp == Stamp::aNRW);
        if (!pair || (unbegun(r) && unbegun(w)) || failed(w)) continue;
        if (unbegun(r) || unbegun(w)) {
          const std::size_t from = unbegun(r) ? b : a, to = unbegun(r) ? a : b;
          so.add(from, to);
          ib.add(from, to);
          continue;
        }
        const bool flushed = sub(w).finish < sub(r).finish;
        const std::size_t from = flushed ? b : a, to = flushed ? a : b;
        so.add(from, to);
        ib.add(from, to);
      }
  }

  /// rao: the atomics of a node (of a unit of it) in their order: the read of one is before that of the next, and so is
  /// its write.
  void atomics(Relation& so) const {
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (x.stamp != Stamp::aNAR || y.stamp != Stamp::aNAR || unbegun(x) || unbegun(y)) continue;
        if (sub(x).node != sub(y).node || trace::rao_unit(sub(x)) != trace::rao_unit(sub(y))) continue;
        if (trace::rao_place(sub(x)) >= trace::rao_place(sub(y))) continue;
        so.add(a, b);
        for (std::size_t w = 0; w < subs_.size(); ++w)
          if (subs_[w].id != 0 && subs_[w].stamp == Stamp::aNRW && !unbegun(subs_[w]) &&
              sub(subs_[w]).call == sub(x).call)
            so.add(w, b);
      }
  }

  bool barriers(Relation& so) {
    std::map<CallId, std::size_t> round;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> counted, entered;  // (thread, barrier)
    for (CallId c = 1; c <= t_.calls.size(); ++c)
      if (event_of(c) == c && call(c).method == Method::barrier) {
        const auto& who = t_.objects[call(c).object].participants;
        if (std::find(who.begin(), who.end(), call(c).thread) == who.end()) return false;
        const std::pair key{call(c).thread, call(c).object};
        round[c] = entered[key] = counted[key] + 1;
        if (!ended_in_fence(c)) ++counted[key];
      }
    for (const auto& [c, r] : round)
      if (call(c).returned)
        for (const std::uint32_t p : t_.objects[call(c).object].participants) {
          const auto found = entered.find({p, call(c).object});
          if (found == entered.end() || found->second < r) return false;
        }
    for (std::size_t a = 0; a < subs_.size(); ++a)
      for (std::size_t b = 0; b < subs_.size(); ++b) {
        const Sub &x = subs_[a], &y = subs_[b];
        if (x.library == Library::bal && y.library == Library::bal && x.stamp == Stamp::aGF && y.stamp == Stamp::aCR &&
            call(x.event).object == call(y.event).object && round[x.event] == round[y.event])
          so.add(a, b);
      }
    return true;
  }

  const Trace& t_;
  unsigned libraries_;
  std::vector<Sub> subs_;
  std::vector<std::size_t> rank_;            // by subevent, among those of its call and stamp
  std::map<SubeventId, std::size_t> shown_;  // recorded subevents at the level: their place in subs_
  mutable std::vector<CallId> events_;       // by call
  std::map<std::uint32_t, Seq> known_;       // by thread: since when its software knows that something has failed
};

}  // namespace

bool reference_consistent(const Trace& trace, unsigned libraries) { return Reference(trace, libraries).consistent(); }

bool fits_reference(const Trace& trace) { return trace.subevents.size() + trace.calls.size() * trace.nodes <= kMax; }

}  // namespace loco::model::test
