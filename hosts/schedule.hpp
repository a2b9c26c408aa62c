// Chooses which pending event of a simulated machine runs next (docs/machine.md, "Laws" 1 and "Exploration").
//
// timed: the earliest; the only schedule whose times mean anything. random: any, all equally likely. adversarial: by
// priorities that change at random points (sim/pct_scheduler.hpp), one for each kind of event of each component or
// thread. A transport timer fires only when nothing is in flight that could stop it: losses are repeated, delays are
// not. A function of the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic_model/system.hpp"
#include "sim/pct_scheduler.hpp"
#include "sim/rng.hpp"

namespace loco::hosts {

enum class Schedule : std::uint8_t { timed, random, adversarial };

class Scheduler {
 public:
  Scheduler(Schedule schedule, std::uint64_t seed) : schedule_(schedule), stream_(seed, "schedule") {}

  /// Takes one event. Returns false if none is pending.
  bool step(nic::System& system, nic::Context& context) {
    return schedule_ == Schedule::timed ? system.step(context) : step_any(system, context);
  }

 private:
  bool step_any(nic::System& system, nic::Context& context);
  /// Picks one of `count` events; `at(i)` is the number of the i-th.
  template <class At>
  std::size_t pick(const nic::System& system, std::size_t count, At at) {
    if (schedule_ == Schedule::random) return stream_.below(count);
    return pct_.pick(count, stream_, [&](std::size_t i) { return agent_of(system.pending_event(at(i))); });
  }
  std::size_t pick_other(const nic::System& system, std::size_t next);
  std::size_t agent_of(const sim::Event& event);

  Schedule schedule_;
  sim::Stream stream_;
  sim::PctScheduler pct_{16, sim::PctScheduler::Demotion::redrawn};
  std::size_t agents_ = 0;
  std::vector<std::size_t> others_;
  std::vector<std::vector<std::size_t>> agent_numbers_;  // by kind and component, from 1; 0: not seen yet
};

}  // namespace loco::hosts
