// Refuses options of the network that would have no effect given the rest of the scenario, because whoever writes one
// expects an effect.
#pragma once

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"

namespace loco::scenario {

/// Throws text::InputError for a topology, or an option of the fabric, that hardware without a network or the flow
/// model does not use. An option with its default value is accepted. Needs hardware and options.
void refuse_idle_options(const Settings& settings, const Scenario& scenario);

/// The same for options that a platform file describes itself.
void refuse_beside_platform(const Settings& settings);

/// Refuses a switch that would drop every packet of the workload's messages even if its buffer were empty. Needs the
/// workload.
void refuse_dropping_all(const Settings& settings, const Scenario& scenario);

}  // namespace loco::scenario
