// The global fence of the shared variable library (LOCO paper, Sections 2.2 and 3.5).
//
// Waits until all earlier operations of the calling thread towards the given nodes are entirely done, the remote
// writes included: reads a dummy location of each node and waits for the values. A read pushes the earlier writes of
// its queue pair before it, so its answer says that they are in memory.
#pragma once

#include <optional>
#include <span>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class networked_node;

void global_fence(networked_node& mgr, std::span<const NodeId> nodes);

/// Towards every node. The own node is read only if this thread has operated on it by loopback: otherwise there are
/// only the thread's stores to wait for, which are in memory when any read has been answered, or after a memory fence.
void global_fence(networked_node& mgr);

/// Towards one node.
void global_fence(networked_node& mgr, NodeId node);

/// Towards the nodes that do not yet have all that this thread has written to them: for objects that must not be let go
/// before, such as locks (Section 6.2). Nothing happens when there are none but `except`; beside others it is fenced as
/// well, which costs no time and spares the next lock that is let go a fence of its own.
void write_fence(networked_node& mgr, std::optional<NodeId> except = {});

}  // namespace loco
