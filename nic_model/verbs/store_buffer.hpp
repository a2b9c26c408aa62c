// Carries out the entries that leave a thread's store buffer: stores go to memory, doorbells to the NIC over PCIe, and
// new receives to the doorbell record that the NIC reads. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// kEventDrain: the oldest entry leaves.
void drain(Engine& engine, ThreadId thread);

}  // namespace loco::nic
