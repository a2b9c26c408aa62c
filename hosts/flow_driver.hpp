// A simulated cluster as the flow model sees it: its events, the messages that leave, and those whose bytes are
// through.
#pragma once

#include <functional>

#include "fabric/flow/flow_clock.hpp"
#include "nic_model/system.hpp"

namespace loco::hosts {

/// Runs `system` on the flow model until nothing is left to happen: `step` takes its earliest event. Throws
/// fabric::FlowError, and what `step` throws. Once in the life of a process.
void run_on_flows(nic::System& system, const std::function<void()>& step);

}  // namespace loco::hosts
