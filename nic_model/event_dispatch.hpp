// Which event goes to which unit. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

/// Lets the unit that an event is for take its step. Throws std::logic_error for an event of unknown kind.
void handle(Engine& engine, const sim::Event& event);

}  // namespace loco::nic
