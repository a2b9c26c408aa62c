// Where the entries of a thread's store buffer go: to memory, to the NIC by PCIe, or, of receive queues, to the
// doorbell record that the NIC reads. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// kEventDrain: the oldest entry leaves.
void drain(Engine& engine, ThreadId thread);

}  // namespace loco::nic
