// The global fence of the shared variable library (LOCO paper, Sections 2.2 and 3.5).
//
// Waits until all earlier operations of the calling thread towards the given nodes are entirely done, the remote
// writes included: reads a dummy location of each node and waits for the values. A read pushes the earlier writes of
// its queue pair before it, so its answer says that they are in memory.
#pragma once

#include <span>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class manager;

void global_fence(manager& mgr, std::span<const NodeId> nodes);

/// Towards every node. The own node is read only if this thread has operated on it by loopback: otherwise there is
/// nothing to wait for.
void global_fence(manager& mgr);

}  // namespace loco
