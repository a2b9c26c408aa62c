#include "verify/abstract/refine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "verify/abstract/path_run.hpp"

namespace loco::verify::abstract {

namespace {

constexpr Number kFar = std::numeric_limits<Number>::max();
constexpr Number kSlackMax = 32;
constexpr int kPinsMax = 24;

class Interpolation {
 public:
  Interpolation(const Reduced& reduced, const PathRun& run, Predicates& predicates, const Limits& limits)
      : reduced_(reduced), run_(run), predicates_(predicates), limits_(limits) {}

  bool add() {
    const auto d = as_difference(run_.failed.value());
    if (d) {
      for (const bool constants : {false, true}) {
        const auto cycle = negative_cycle(*d, constants);
        if (cycle && cut(*cycle)) return true;
        if (cycle) break;
      }
    }
    // Atoms of three variables and sums are dear to decide: numbers come first where a few of them may do.
    return predicates_.pinned++ < kPinsMax ? pin() || carry_back() : carry_back() || pin();
  }

 private:
  using Cycle = std::vector<PathEdge>;

  /// The shortest cycle through the failed guard that adds up to less than 0.
  std::optional<Cycle> negative_cycle(const Difference& guard, bool constants) const {
    const std::size_t nodes = run_.nodes.size();
    struct Reached {
      std::vector<Number> weight;
      std::vector<std::uint32_t> by;
    };
    std::vector<Reached> rounds(1, {std::vector<Number>(nodes, kFar), std::vector<std::uint32_t>(nodes, 0)});
    rounds[0].weight[guard.right] = 0;
    while (rounds.size() <= nodes) {
      limits_.tick();
      Reached next{std::vector<Number>(nodes, kFar), std::vector<std::uint32_t>(nodes, 0)};
      for (std::uint32_t e = 0; e < run_.edges.size(); ++e) {
        const PathEdge& edge = run_.edges[e];
        const Number weight = rounds.back().weight[edge.left];
        if (weight == kFar) continue;
        if (!constants && edge.right == 0 && guard.left != 0) continue;
        if (const Number sum = checked_add(weight, edge.bound); sum < next.weight[edge.right]) {
          next.weight[edge.right] = sum;
          next.by[edge.right] = e;
        }
      }
      rounds.push_back(std::move(next));
      const Number back = rounds.back().weight[guard.left];
      if (back == kFar || checked_add(back, guard.bound) >= 0) continue;
      Cycle cycle{{guard.left, guard.right, guard.bound, run_.failed_at}};
      for (std::uint32_t n = guard.left; rounds.size() > 1; rounds.pop_back()) {
        cycle.push_back(run_.edges[rounds.back().by[n]]);
        n = cycle.back().left;
      }
      std::reverse(cycle.begin() + 1, cycle.end());
      return cycle;
    }
    return std::nullopt;
  }

  /// A part of the cycle on the early side of a cut: `left - right <= bound`.
  struct Segment {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    Number bound = 0;
    bool oldest = false;  ///< it has the edge of the cycle that is there first
  };

  /// The sums of the parts of the cycle on the early side of each cut.
  std::vector<std::vector<Segment>> segments(const Cycle& cycle) const {
    const auto oldest = std::min_element(cycle.begin() + 1, cycle.end(),
                                         [](const PathEdge& a, const PathEdge& b) { return a.since < b.since; }) -
                        cycle.begin();
    std::vector<std::vector<Segment>> result(run_.failed_at);
    for (std::uint32_t step = 0; step < run_.failed_at; ++step) {
      // The failed guard comes first and is on the late side: parts do not go round the end.
      for (std::size_t i = 1; i < cycle.size(); ++i) {
        if (cycle[i].since > step) continue;
        Segment s{cycle[i].left, 0, 0, false};
        for (; i < cycle.size() && cycle[i].since <= step; ++i) {
          s.bound = checked_add(s.bound, cycle[i].bound);
          s.right = cycle[i].right;
          s.oldest = s.oldest || i == static_cast<std::size_t>(oldest);
        }
        result[step].push_back(s);
      }
    }
    return result;
  }

  Linear atom(const Segment& s, Number slack) const {
    Linear result = minus(versioned(s.left), versioned(s.right));
    result.constant = checked_multiply(checked_add(s.bound, slack), -1);
    return result;
  }

  /// By how much the oldest part may be weakened at each cut. What the cycle adds up to below -1 may be given away,
  /// ever more of it from cut to cut; the cheapest way has few new predicates, with small constants: a counter that a
  /// loop turned five times should not leave five predicates behind.
  std::vector<Number> slack(const Cycle& cycle, const std::vector<std::vector<Segment>>& cuts) const {
    Number total = 0;
    for (const PathEdge& e : cycle) total = checked_add(total, e.bound);
    const Number most = std::min<Number>(-1 - total, kSlackMax);
    const auto levels = static_cast<std::size_t>(most) + 1;
    std::vector<std::vector<std::size_t>> from;
    std::vector<Number> cost(levels, 0);
    std::vector<Linear> previous(levels);
    for (const auto& segments : cuts) {
      const auto oldest = std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.oldest; });
      std::vector<Number> next(levels, kFar);
      std::vector<Linear> atoms(levels);
      from.emplace_back(levels, 0);
      for (std::size_t s = 0; s < levels; ++s) {
        Number own = 0;
        if (oldest != segments.end()) {
          atoms[s] = atom(*oldest, static_cast<Number>(s));
          const Number size = atoms[s].constant < 0 ? -atoms[s].constant : atoms[s].constant;
          if (!predicates_.contains(reduced_, atoms[s])) own = 2 + std::min<Number>(size, 100);
        }
        for (std::size_t before = 0; before <= s; ++before) {
          const Number sum = cost[before] + (atoms[s] == previous[before] ? 0 : own);
          if (sum >= next[s]) continue;
          next[s] = sum;
          from.back()[s] = before;
        }
      }
      cost = std::move(next);
      previous = std::move(atoms);
    }
    std::vector<Number> result(cuts.size());
    auto level = static_cast<std::size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
    for (std::size_t i = cuts.size(); i-- > 0;) {
      result[i] = static_cast<Number>(level);
      level = from[i][level];
    }
    return result;
  }

  bool cut(const Cycle& cycle) {
    const auto cuts = segments(cycle);
    const auto weaker = slack(cycle, cuts);
    bool added = false;
    for (const bool weaken : {true, false}) {
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        for (const Segment& s : cuts[i])
          added = predicates_.add(reduced_, atom(s, weaken && s.oldest ? weaker[i] : 0)) || added;
      }
      if (added) break;
    }
    return added || cut_through_memory(cuts);
  }

  /// Parts between two elements are no predicates. They go through the variables that the elements came from: as far as
  /// these are from the elements on the path.
  bool cut_through_memory(const std::vector<std::vector<Segment>>& cuts) {
    bool added = false;
    for (std::uint32_t step = 0; step < cuts.size(); ++step) {
      for (const Segment& s : cuts[step]) {
        const std::uint32_t ends[] = {s.left, s.right};
        if (!std::all_of(std::begin(ends), std::end(ends),
                         [&](std::uint32_t n) { return reduced_.is_element(run_.nodes[n].variable); }))
          continue;
        for (const std::uint32_t end : ends) {
          const std::uint32_t hub = current(came_from(end), step);
          added = add_distance(s.left, hub) || added;
          added = add_distance(hub, s.right) || added;
        }
      }
    }
    return added;
  }

  /// `left - right` is at most what it is on the path.
  bool add_distance(std::uint32_t left, std::uint32_t right) {
    Linear atom = minus(versioned(left), versioned(right));
    atom.constant = checked_add(run_.nodes[right].value, -run_.nodes[left].value);
    return predicates_.add(reduced_, atom);
  }

  /// The variable of memory of which an element is a value.
  Variable came_from(std::uint32_t node) const {
    while (reduced_.is_element(run_.nodes[node].variable)) {
      const auto& made = run_.nodes[node].made;
      if (!made || made->terms.empty()) return kZero;
      node = made->terms.front().variable;
    }
    return run_.nodes[node].variable;
  }

  /// The version of a variable after a step.
  std::uint32_t current(Variable variable, std::uint32_t step) const {
    for (std::uint32_t n = 1; n < run_.nodes.size(); ++n) {
      const PathNode& node = run_.nodes[n];
      if (node.variable == variable && node.since <= step && step < node.until) return n;
    }
    return 0;
  }

  bool carry_back() {
    bool added = false;
    Linear atom = *run_.failed;
    for (std::uint32_t step = run_.failed_at; !atom.is_constant(); --step) {
      Linear before = Linear::of_constant(atom.constant);
      for (const Term& t : atom.terms) {
        const PathNode& n = run_.nodes[t.variable];
        const bool here = n.since == step && step > 0;
        if (here && !n.made) return added;
        before = plus(before, times(here ? *n.made : Linear::of(t.variable), t.factor));
      }
      // A step may capture a value that it has just written.
      if (before != atom && std::any_of(before.terms.begin(), before.terms.end(),
                                        [&](const Term& t) { return run_.nodes[t.variable].since == step; })) {
        atom = before;
        ++step;
        continue;
      }
      atom = before;
      added = add(atom) || added;
      if (step == 0) break;
    }
    return added;
  }

  /// The values that all versions have from which the failed guard comes: always enough, seldom more than this path.
  bool pin() {
    std::vector<bool> needed(run_.nodes.size(), false);
    for (const Term& t : run_.failed->terms) needed[t.variable] = true;
    bool added = false;
    for (std::size_t n = run_.nodes.size(); n-- > 1;) {
      const PathNode& node = run_.nodes[n];
      if (!needed[n]) continue;
      Linear atom = Linear::of(node.variable);
      atom.constant = checked_multiply(node.value, -1);
      added = predicates_.add(reduced_, atom) || added;
      added = predicates_.add(reduced_, times(atom, -1)) || added;
      if (!node.made) continue;
      for (const Term& t : node.made->terms) needed[t.variable] = true;
    }
    return added;
  }

  /// The variable of which the node is a version.
  Linear versioned(std::uint32_t node) const { return Linear::of(run_.nodes[node].variable); }

  bool add(const Linear& over_nodes) {
    Linear result = Linear::of_constant(over_nodes.constant);
    for (const Term& t : over_nodes.terms) result = plus(result, times(versioned(t.variable), t.factor));
    return predicates_.add(reduced_, result);
  }

  const Reduced& reduced_;
  const PathRun& run_;
  Predicates& predicates_;
  const Limits& limits_;
};

}  // namespace

Refinement refine(Stepper& stepper, const AbstractPath& path, Predicates& predicates) {
  PathRun run = abstract::run(stepper, path);
  Refinement result;
  if (run.not_there) {
    result.kind = Refinement::Kind::kCount;
    result.channel = *run.not_there;
  } else if (!run.failed) {
    result.kind = Refinement::Kind::kRun;
    result.schedule = std::move(run.schedule);
  } else if (Interpolation(stepper.abstraction().reduced(), run, predicates, stepper.limits()).add()) {
    result.kind = Refinement::Kind::kPredicates;
  } else {
    result.why = "no predicate rules an abstract run out";
  }
  return result;
}

}  // namespace loco::verify::abstract
