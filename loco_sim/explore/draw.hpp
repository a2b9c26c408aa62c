// Runs under adversarial delays, each drawn by itself: nothing is remembered from one to the next.
//
// A schedule stands for delays: the event that runs is the one whose delays turned out shortest (docs/machine.md, law
// 1). One run in four starves parts of the machine for long stretches (sim/pct_scheduler.hpp), where an agent is a
// thread, or one kind of step of one component for one operation. The others pick uniformly.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loco_sim/explore/machine.hpp"
#include "sim/pct_scheduler.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

class DrawnSchedule {
 public:
  /// `machine` outlives it.
  DrawnSchedule(const Machine& machine, std::uint64_t seed) : machine_(machine), stream_(seed, "explore/draw") {}

  /// Runs to the end, from wherever `c` is.
  void run(Configuration& c);
  /// Runs to a state that is looked for, and says whether it came to one; no step is taken as making no difference.
  bool run_to(Configuration& c, const std::function<bool(const Configuration&)>& reached);

 private:
  void begin();
  Choice pick(const Configuration& c);
  std::size_t most_urgent(const Configuration& c);
  std::size_t find(const sim::Event& e);

  const Machine& machine_;
  sim::Stream stream_;
  bool reduce_ = false;
  bool uniform_ = false;
  sim::PctScheduler pct_{1, sim::PctScheduler::Demotion::behind_all};
  std::vector<Choice> choices_;
  std::vector<std::uint64_t> agents_;  // what they are called, in the order in which they were seen
};

}  // namespace loco::explore
