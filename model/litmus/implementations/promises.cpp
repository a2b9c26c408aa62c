#include "model/litmus/implementations/promises.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "model/litmus/search/search.hpp"
#include "model/stamps.hpp"

namespace loco::model::litmus {
namespace {

using trace::is_family;
using trace::Library;

/// A way through the client by the specification.
struct Specified {
  Skeleton x;
  Axioms a;
};

/// As figures have it: aGF_2.
std::string stamp_text(Stamp stamp, int node) {
  const std::string text(rdma::name(stamp));
  return is_family(stamp) ? text + "_" + std::to_string(node) : text;
}

/// The specification's ways that have these results of calls, and the execution of the implementation they are held to.
class Local {
 public:
  Local(const Specified& s, const FoundExecution& found, const StampOrder& order)
      : x_(s.x), a_(s.a), y_(*found.skeleton), found_(found), order_(order) {}

  /// The first promise that is not kept; empty: all are.
  std::string broken() {
    hb_ = happens_before(y_, *found_.axioms, found_.witness);
    find_parts();
    for (int s = 0; s < x_.n; ++s)
      if (std::string text = concretise(s); !text.empty()) return text;
    const Witness witness = image();
    Relation so = a_.so | (witness.rf & a_.rf_so) | (witness.rb(x_, a_) & a_.rb_so) | (witness.mo & a_.mo);
    so.for_each([&](int s, int t) {
      if (of_library(s) && of_library(t)) promised_.emplace_back(s, t);
    });
    if (!choose(0)) return text(worst_.first) + " is not before " + text(worst_.second);
    if (!consistent(x_, a_, witness)) return "the specification has no such execution";
    return {};
  }

 private:
  [[nodiscard]] bool of_library(int s) const { return x_.sub(s).library != Library::rdmawait; }

  /// The subevents of each call's implementation; subevents outside of calls of the library stand for themselves.
  void find_parts() {
    std::map<std::pair<int, int>, std::vector<int>> by_statement;
    for (int i = 0; i < y_.n; ++i) {
      const EventInfo& e = y_.event_of(i);
      by_statement[{e.thread, y_.instruction(y_.sub(i).event).origin}].push_back(i);
    }
    parts_.resize(static_cast<std::size_t>(x_.n));
    same_.assign(static_cast<std::size_t>(x_.n), kNone);
    above_.assign(static_cast<std::size_t>(y_.n), kNone);
    for (int s = 0; s < x_.n; ++s) {
      const EventInfo& e = x_.event_of(s);
      at(parts_, s) = by_statement[{e.thread, e.instruction}];
      const int i = find_same(s);
      if (i == kNone) continue;
      at(above_, i) = s;
      at(same_, s) = i;
    }
  }
  /// Of the words that a tuple is made of the first one, which all of its accesses have, in whatever order they make
  /// them.
  [[nodiscard]] int find_same(int s) const {
    int found = kNone;
    for (const int i : at(parts_, s)) {
      const SubEvent &down = y_.sub(i), &up = x_.sub(s);
      if (at(above_, i) != kNone || down.stamp != up.stamp || down.node != up.node) continue;
      if (up.cell != kNone && y_.cells->node(down.cell) != x_.cells->node(up.cell)) continue;
      if (up.cell == kNone || at(x_.program->locations, x_.cells->location(up.cell)).kind != LocationKind::tuple)
        return i;
      if (found == kNone || down.cell < y_.sub(found).cell) found = i;
    }
    return found;
  }

  /// The subevents that may stand for s: itself, where it was implemented as it is.
  std::string concretise(int s) {
    std::vector<int>& candidates = may_be_.emplace_back();
    if (!of_library(s)) {
      candidates.push_back(at(same_, s));
      return {};
    }
    std::string missing;
    for (const int i : at(parts_, s)) {
      if (std::string text = lacks(s, i); text.empty())
        candidates.push_back(i);
      else
        missing = text;
    }
    if (x_.sub(s).cell != kNone && at(same_, s) != kNone) candidates.assign(1, at(same_, s));
    if (!candidates.empty()) return {};
    return text(s) + (missing.empty() ? ": nothing stands for it" : ": nothing of its call is " + missing);
  }

  /// Which stamp must be before or after s, and is before or after nothing of the call that i is behind or before?
  [[nodiscard]] std::string lacks(int s, int i) const {
    for (std::size_t k = 0; k < kStamps; ++k) {
      const auto stamp = static_cast<Stamp>(k);
      for (const int node : x_.program->nodes) {
        const bool before = order_.ordered(stamp, x_.sub(s).stamp, node == x_.sub(s).node);
        const bool after = order_.ordered(x_.sub(s).stamp, stamp, node == x_.sub(s).node);
        const auto kept = [&](bool earlier) {
          return std::ranges::any_of(at(parts_, s), [&](int p) {
            const bool same = node == y_.sub(p).node;
            if (earlier) return order_.ordered(stamp, y_.sub(p).stamp, same) && (p == i || hb_.contains(p, i));
            return order_.ordered(y_.sub(p).stamp, stamp, same) && (p == i || hb_.contains(i, p));
          });
        };
        if (before && !kept(true)) return "behind every earlier " + stamp_text(stamp, node);
        if (after && !kept(false)) return "before every later " + stamp_text(stamp, node);
        if (!is_family(stamp)) break;
      }
    }
    return {};
  }

  /// The relations of the execution between accesses that stand for themselves.
  [[nodiscard]] Witness image() const {
    Witness w(x_.n);
    const auto map = [&](const Relation& from, Relation& to) {
      from.for_each([&](int i, int j) {
        if (at(above_, i) != kNone && at(above_, j) != kNone) to.add(at(above_, i), at(above_, j));
      });
    };
    map(found_.witness.rf, w.rf);
    map(found_.witness.mo, w.mo);
    map(found_.witness.nfo, w.nfo);
    map(found_.witness.rao, w.rao);
    return w;
  }

  /// A concretisation that keeps all of so: subevents from s on.
  bool choose(int s) {
    if (s == x_.n) return true;
    if (++tried_ > kTriesMax) return false;
    for (const int i : at(may_be_, s)) {
      chosen_.push_back(i);
      if (fits(s) && choose(s + 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }
  [[nodiscard]] bool fits(int s) {
    for (const auto& [from, to] : promised_) {
      if (std::max(from, to) != s) continue;
      const int i = at(chosen_, from), j = at(chosen_, to);
      if (i == j || hb_.contains(i, j)) continue;
      if (s >= deepest_) {
        deepest_ = s;
        worst_ = {from, to};
      }
      return false;
    }
    return true;
  }

  [[nodiscard]] std::string text(int s) const {
    const SubEvent& sub = x_.sub(s);
    return stamp_text(sub.stamp, sub.node) + " of `" + x_.instruction(sub.event).text + "` by thread " +
           std::to_string(sub.thread);
  }

  static constexpr std::uint64_t kTriesMax = 1'000'000;

  const Skeleton& x_;
  const Axioms& a_;
  const Skeleton& y_;
  const FoundExecution& found_;
  const StampOrder& order_;
  Relation hb_;
  std::vector<std::vector<int>> parts_;   // by subevent above
  std::vector<int> same_;                 // by subevent above: the one below that is the same, or kNone
  std::vector<int> above_;                // the inverse
  std::vector<std::vector<int>> may_be_;  // by subevent above
  std::vector<std::pair<int, int>> promised_;
  std::vector<int> chosen_;
  std::uint64_t tried_ = 0;
  int deepest_ = kNone;
  std::pair<int, int> worst_{0, 0};
};

/// Has the way these results? A call that may fail says so in its register.
bool has_results(const Skeleton& x, OutcomeView outcome) {
  for (int e = 0; e < len(x.events); ++e) {
    const Instruction& i = x.instruction(e);
    if (i.op != Op::submit && i.op != Op::receive && i.op != Op::tuple_read) continue;
    const auto o = std::ranges::find_if(x.program->observables, [&](const Observable& seen) {
      return seen.reg == i.target && seen.thread == at(x.events, e).thread;
    });
    if (o == x.program->observables.end()) continue;
    const Value value = outcome[static_cast<std::size_t>(o - x.program->observables.begin())];
    const Value failed = i.op == Op::submit ? kFalse : i.op == Op::receive ? kEmpty : kBottom;
    const bool fails = at(x.events, e).result == failed;
    if (fails != (value == failed)) return false;
  }
  return true;
}

}  // namespace

PromiseResult check_promises(const Program& client, const Program& implemented, const ModelOptions& options,
                             int loop_bound, std::uint64_t executions_max) {
  SearchOptions search_options;
  search_options.model = options;
  search_options.loop_bound = loop_bound;
  search_options.every_witness = true;
  const Model model = *find_model("loco");
  const Cells cells(client);
  std::deque<Specified> ways;
  for_each_skeleton(client, model, search_options, [&](const Skeleton& x, const Axioms& a) {
    ways.push_back({x, a});
    ways.back().x.cells = &cells;  // those of the search do not last, nor do its paths
    ways.back().x.paths.clear();
    return true;
  });
  PromiseResult result;
  (void)search(implemented, model, search_options, {}, [&](const FoundExecution& found) {
    std::optional<std::string> best;
    for (const Specified& way : ways) {
      if (!has_results(way.x, found.outcome)) continue;
      best = Local(way, found, options.order).broken();
      if (best->empty()) break;
    }
    if (!best) best = "the specification has no execution with these results: " + implemented.text(found.outcome);
    result.broken = *best;
    ++result.executions;
    if (executions_max != 0 && result.executions >= executions_max) result.complete = false;
    return result.broken.empty() && result.complete;
  });
  return result;
}

}  // namespace loco::model::litmus
