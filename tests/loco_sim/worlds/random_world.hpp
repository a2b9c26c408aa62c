// Random worlds: valid scenarios, small ones, drawn from the tables that scenarios are read by: every workload with any
// of its parameters, every topology, routing, losses and failures of the fabric, every hardware profile, placements,
// deliberate faults and schedules. A function of the seed: every tenth has nic.word_order: any.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/scenario/scenario.hpp"

namespace loco::test {

struct World {
  std::string text;  ///< YAML
  scenario::Scenario scenario;
  std::uint32_t refused = 0;  ///< drafts before it that did not fit together, which reading them found
};

/// Throws std::runtime_error when draft after draft is refused.
[[nodiscard]] World random_world(std::uint64_t seed);

/// The reason why the world may fail or stall: its fault, or an operation given up by design. Empty: it must end
/// without error.
struct Excuses {
  std::string inconsistent;  ///< a verdict or a promise of the workload may be broken
  std::string failing;       ///< the run may end with an error: operations fail, messages are lost, threads wait
};
[[nodiscard]] Excuses excuses_of(const scenario::Scenario& scenario);

}  // namespace loco::test
