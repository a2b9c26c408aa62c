// The global fence of the shared variable library (LOCO paper, Sections 2.2 and 3.5).
//
// Waits until all earlier operations of the calling thread towards the given nodes are done, remote writes included. It
// reads a dummy location on each node and waits for the values: a read pushes the earlier writes of its queue pair into
// memory before it is answered.
#pragma once

#include <optional>
#include <span>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class networked_node;

void global_fence(networked_node& mgr, std::span<const NodeId> nodes);

/// Fences every node. This node is read only if the thread has used loopback since its last fence. Otherwise just the
/// thread's own stores are open, and they are in memory once any read is answered, or after a memory fence.
void global_fence(networked_node& mgr);

/// Fences one node.
void global_fence(networked_node& mgr, NodeId node);

/// Fences the nodes whose memory may still lack writes of this thread. A lock calls it before it is released (Section
/// 6.2). Does nothing if `except` is the only such node. With others it fences `except` as well, which takes no longer
/// and saves the next release a fence.
void write_fence(networked_node& mgr, std::optional<NodeId> except = {});

}  // namespace loco
