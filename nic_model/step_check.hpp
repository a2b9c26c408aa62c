// Invariants of all units after a step (engine/check.hpp), in builds with LOCO_SIM_CHECK_STEPS. Private to nic_model/.
#pragma once

#include "nic_model/state.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

/// Checks the unit that the event was for; all units after every 1024th event.
void check_step(const State& s, const sim::Event& event);

}  // namespace loco::nic
