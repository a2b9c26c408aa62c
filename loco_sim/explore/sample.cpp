#include <map>

#include "loco_sim/explore/draw.hpp"
#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/seek.hpp"

namespace loco::explore {

namespace {
constexpr std::uint64_t kDrawEvery = 16;  // while something may be new; all other runs seek it
constexpr std::uint64_t kPollEvery = 16;
}  // namespace

SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed, const std::function<void()>& poll) {
  SampleResult result;
  result.runs = runs;
  std::map<model::litmus::Outcome, std::uint64_t> seen;
  DrawnSchedule draw(machine, seed);
  Seeker seeker(machine, seed);
  Configuration c = machine.initial();
  for (std::uint64_t run = 0; run < runs; ++run) {
    if (poll && run % kPollEvery == 0) poll();
    c = machine.initial();
    if (run % kDrawEvery == 0 || seeker.done()) {
      draw.run(c);
    } else {
      seeker.run(c);
    }
    if (machine.finished(c)) {
      const model::litmus::Outcome outcome = machine.outcome(c);
      ++seen[outcome];
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
