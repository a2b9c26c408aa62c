#include "loco_sim/explore/explore.hpp"

#include <algorithm>
#include <boost/unordered_set.hpp>
#include <set>

#include "loco_sim/explore/deadline.hpp"

namespace loco::explore {

namespace {

class Search {
 public:
  Search(const Machine& machine, const ExploreLimits& limits)
      : machine_(machine), limits_(limits), deadline_(limits.max_time), quarter_(limits.max_time / 4) {
    machine_.bound_loops(limits.loop_turns);
  }

  ExploreResult run() {
    std::vector<Configuration> stack;
    stack.push_back(machine_.initial());
    if (limits_.ways) stack.back().trails = &trails_;
    while (!stack.empty() && !result_.reached && within_limits()) {
      if (vary_now()) vary();
      Configuration c = std::move(stack.back());
      stack.pop_back();
      if (!settle(c)) {
        spare_.push_back(std::move(c));
        continue;
      }
      machine_.choices(c, choices_);
      const Choice last = choices_.back();
      choices_.pop_back();
      for (const Choice i : choices_) {
        stack.push_back(copy(c));
        machine_.step(stack.back(), i);
      }
      stack.push_back(std::move(c));
      machine_.step(stack.back(), last);
    }
    result_.complete = stack.empty() && !result_.reached;
    result_.outcomes.assign(outcomes_.begin(), outcomes_.end());
    return std::move(result_);
  }

 private:
  /// Copies into the storage of a discarded configuration if there is one, because copying allocates much.
  Configuration copy(const Configuration& c) {
    if (spare_.empty()) return c;
    Configuration result = std::move(spare_.back());
    spare_.pop_back();
    result = c;
    return result;
  }

  /// True if it is time for ExploreLimits::vary.
  bool vary_now() const {
    constexpr std::uint64_t kSoon = 20'000;  // states
    const bool limited = limits_.max_executions != 0 || limits_.max_time.count() != 0;
    if (!limits_.vary || !limited || result_.varied != 0) return false;
    if (limits_.max_executions != 0 && 2 * result_.executions >= limits_.max_executions) return true;
    return result_.states >= kSoon || (limits_.max_time.count() != 0 && quarter_.over());
  }
  void vary() {
    const std::uint64_t runs = limits_.max_executions != 0 ? limits_.max_executions : ~std::uint64_t{0};
    SampleResult seen =
        sample(machine_, runs, 1, {.max_time = limits_.max_time / 4, .poll = limits_.poll, .ways = limits_.ways});
    result_.ways.merge(seen.ways);
    for (const SampleResult::Seen& s : seen.outcomes) outcomes_.insert(s.outcome);
    result_.failed_assertions.insert(seen.failed_assertions.begin(), seen.failed_assertions.end());
    result_.varied = seen.runs;
  }

  bool within_limits() const {
    if (limits_.max_executions != 0 && result_.executions >= limits_.max_executions) return false;
    if (limits_.max_states != 0 && result_.states >= limits_.max_states) return false;
    if ((result_.states & 255U) != 0) return true;
    if (limits_.poll) limits_.poll();
    return !(limits_.out_of_time && limits_.out_of_time()) && !deadline_.over();
  }

  /// Runs what commutes, then looks up the state. Returns false if it is an end or was seen before.
  bool settle(Configuration& c) {
    if (limits_.reduce && !limits_.goal.passing) machine_.settle(c);
    if (!seen_.insert(c.hash()).second) return false;
    ++result_.states;
    result_.reached = limits_.goal.reached && limits_.goal.reached(c);
    if (result_.reached) return false;
    if (!machine_.over(c)) return true;
    if (machine_.finished(c)) {
      ++result_.executions;
      const auto outcome = outcomes_.insert(machine_.outcome(c)).first;
      if (limits_.ways && !result_.ways.contains(*outcome)) result_.ways[*outcome] = trails_.way_to(c.trail);
      machine_.name_failed_assertions(c, result_.failed_assertions);
    } else if (std::ranges::any_of(c.threads, [this](const ThreadState& t) { return machine_.cut(t); })) {
      ++result_.cut;
    } else {
      ++result_.stuck;
    }
    return false;
  }

  Machine machine_;
  const ExploreLimits limits_;
  const Deadline deadline_;
  const Deadline quarter_;
  boost::unordered_set<std::uint64_t> seen_;  // used for lookups only, never iterated
  std::set<model::litmus::Outcome> outcomes_;
  std::vector<Configuration> spare_;
  std::vector<Choice> choices_;
  Trails trails_;
  ExploreResult result_;
};

}  // namespace

ExploreResult explore(const Machine& machine, const ExploreLimits& limits) { return Search(machine, limits).run(); }

}  // namespace loco::explore
