// Which pending event of a simulated machine runs next (docs/machine.md, "Laws" 1 and "Exploration").
//
// timed: the earliest; the only one whose times mean anything. random: any, each as likely. adversarial: every
// component and thread has a random priority which changes at random points (after Burckhardt et al., "A randomized
// scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010), so that one of them can be held back for
// very long, as if its delays were a hundred times the others', but not for ever. A function of the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/system.hpp"
#include "sim/rng.hpp"

namespace loco {

enum class Schedule : std::uint8_t { timed, random, adversarial };

class Scheduler {
 public:
  Scheduler(Schedule schedule, std::uint64_t seed) : schedule_(schedule), stream_(seed, "schedule") {}

  /// Takes one event; false when none is pending.
  bool step(nic::System& system, nic::Context& context) {
    return schedule_ == Schedule::timed ? system.step(context) : step_any(system, context);
  }

 private:
  bool step_any(nic::System& system, nic::Context& context);
  std::size_t pick_by_priority(const nic::System& system);

  Schedule schedule_;
  sim::Stream stream_;
  std::uint64_t picks_ = 0;
  struct Priority {
    std::uint64_t value = 0;
    std::uint64_t drawn_in = 0;  ///< the round in which it was drawn; it counts in that one only
  };
  Priority& priority_of(const sim::Event& event);

  std::uint64_t round_ = 1;
  std::vector<std::vector<Priority>> priorities_;  ///< by kind and component
};

}  // namespace loco
