#include "loco_sim/networks/observe.hpp"

#include <set>

#include "loco_sim/explore/core_verbs.hpp"
#include "loco_sim/explore/explore.hpp"

namespace loco::networks {

namespace {
constexpr std::uint64_t kSeed = 1;
constexpr std::uint16_t kLoopTurns = 2;
}  // namespace

Observed observe(const model::litmus::Program& program, const nic::HardwareProfile& profile,
                 const ObserveLimits& limits) {
  const explore::Machine machine(explore::over_verbs(program, explore::verbs_options(profile)), profile);
  explore::ExploreResult found =
      explore::explore(machine, {.max_states = limits.states, .loop_turns = kLoopTurns, .poll = limits.poll});
  if (found.exhaustive()) return {std::move(found.outcomes), true};
  std::set<model::litmus::Outcome> all(found.outcomes.begin(), found.outcomes.end());
  for (auto& seen : explore::sample(machine, limits.runs, kSeed, {.poll = limits.poll}).outcomes)
    all.insert(std::move(seen.outcome));
  return {{all.begin(), all.end()}, false};
}

}  // namespace loco::networks
