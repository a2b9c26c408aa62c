// Passes each event to its unit. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

/// Lets the unit that the event is for take its step. Throws std::logic_error for an unknown kind of event.
void handle(Engine& engine, const sim::Event& event);

}  // namespace loco::nic
