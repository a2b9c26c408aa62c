// Runs with adversarial delays, each drawn independently of earlier runs.
//
// A schedule stands for delays: the next event is the one whose delays were shortest (docs/machine.md, law 1). One run
// in four starves parts of the machine for long stretches (sim/pct_scheduler.hpp), where an agent is a thread, or one
// kind of step of one component for one operation. The other runs choose uniformly.
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
  /// `machine` must outlive this.
  DrawnSchedule(const Machine& machine, std::uint64_t seed) : machine_(machine), stream_(seed, "explore/draw") {}

  /// Runs from `c` to the end.
  void run(Configuration& c);
  /// Runs until a state for which `reached` holds, and returns whether there was one. No step is skipped as making no
  /// difference.
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
  std::vector<std::uint64_t> agents_;  // their names, in the order of first occurrence
};

}  // namespace loco::explore
