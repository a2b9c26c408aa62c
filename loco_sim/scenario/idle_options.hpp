// Options of the network that would do nothing beside what else the scenario says: refused by name, since whoever
// writes one expects a difference.
#pragma once

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"

namespace loco::scenario {

/// Throws text::InputError for a topology or an option of the fabric that hardware without a network or the flow model
/// does not look at. What is at its default is no option, whether it was written or not. Needs hardware and options
/// applied.
void refuse_idle_options(const Settings& settings, const Scenario& scenario);

/// The same for what a platform file says itself.
void refuse_beside_platform(const Settings& settings);

/// Refuses a switch that drops every packet of the workload's messages, even when it has nothing else to keep. After
/// the workload has been read.
void refuse_dropping_all(const Settings& settings, const Scenario& scenario);

}  // namespace loco::scenario
