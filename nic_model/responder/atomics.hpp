// The atomic unit of a NIC, which the responders of its queue pairs take in turn.
//
// A NIC executes one atomic at a time: read, modify, write; the next one's read is behind that write. Private to
// nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "nic_model/records.hpp"

namespace loco::nic {

/// An atomic waits for its turn, or begins.
void queue_atomic(Engine& engine, NodeId node, const AtomicRequest& request);
/// kEventAtomic: the word has been read.
void execute_atomic(Engine& engine, NodeId node);
/// kEventAtomicDone, and the commit of an atomic's write.
void atomic_unit_free(Engine& engine, NodeId node);

}  // namespace loco::nic
