// A simulated cluster as the flow model sees it: its events, the messages it sends, and those that have been delivered.
#pragma once

#include <functional>

#include "fabric/flow/flow_clock.hpp"
#include "nic_model/system.hpp"

namespace loco::hosts {

/// Runs `system` on the flow model until no event is left; `step` takes the earliest event. Throws fabric::FlowError,
/// and exceptions of `step`. At most once per process.
void run_on_flows(nic::System& system, const std::function<void()>& step);

}  // namespace loco::hosts
