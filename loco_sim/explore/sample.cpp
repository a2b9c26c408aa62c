#include <map>

#include "loco_sim/explore/deadline.hpp"
#include "loco_sim/explore/draw.hpp"
#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/seek.hpp"

namespace loco::explore {

namespace {
constexpr std::uint64_t kDrawEvery = 16;  // while something may be new; all other runs seek it
}  // namespace

SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed, const SampleLimits& limits) {
  const Deadline deadline(limits.max_time);
  SampleResult result;
  std::map<model::litmus::Outcome, std::uint64_t> seen;
  DrawnSchedule draw(machine, seed);
  const auto out_of_time = [&] {
    if (limits.poll) limits.poll();
    return deadline.over();
  };
  Seeker seeker(machine, seed, out_of_time);
  Trails trails;
  Configuration c = machine.initial();
  const Goal& goal = limits.goal;
  for (; result.runs < runs && !result.reached && (!out_of_time() || result.runs == 0); ++result.runs) {
    c = machine.initial();
    trails.clear();
    if (limits.ways) c.trails = &trails;
    if (goal.passing) {
      result.reached = draw.run_to(c, goal.reached);
    } else if (result.runs % kDrawEvery == 0 || seeker.done()) {
      draw.run(c);
    } else {
      seeker.run(c);
    }
    if (!goal.passing && goal.reached && goal.reached(c)) result.reached = true;
    if (machine.finished(c)) {
      const model::litmus::Outcome outcome = machine.outcome(c);
      if (++seen[outcome] == 1 && limits.ways) result.ways[outcome] = trails.way_to(c.trail);
      machine.name_failed_assertions(c, result.failed_assertions);
      seeker.show(outcome);
    } else {
      ++result.stuck;
      seeker.show_stuck();
    }
  }
  for (const auto& [outcome, times] : seen) result.outcomes.push_back({outcome, times});
  return result;
}

}  // namespace loco::explore
