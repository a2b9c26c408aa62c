// The answers of a responder: what they are made of, and the memory accesses of READs and atomics (IBTA volume 1, 9.7.4
// and 9.7.5; docs/machine.md, "NIC, responder side").
//
// Order per queue pair: answers leave in the order in which they are pushed. A READ's PCIe read is behind the queue
// pair's posted writes and ordered with nothing else; a NIC executes one atomic at a time: read, modify, write;
// the next one's read is behind that write. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "nic_model/records.hpp"

namespace loco::nic {

/// Queues an answer and returns its number.
std::uint64_t push_response(Engine& engine, QpId qp, const Response& response);
/// Whose subevents a request's are: a shortcut past the wire for the trace, without influence on the run.
void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op);
/// A READ: has its answer's place now, its data later.
/// `again`: the request has come, and was executed, before.
void take_read(Engine& engine, QpId qp, const fabric::Packet& packet, bool again = false);
/// An atomic: likewise; the queue pair's later requests wait (Responder::blocked).
void take_atomic(Engine& engine, QpId qp, const fabric::Packet& packet);

/// The oldest answer may have something to send.
void schedule_respond(Engine& engine, QpId qp);
/// Samples the next step of a READ, as accesses of the memory model; returns its bytes.
std::uint32_t sample_next(Engine& engine, QpId qp, std::uint64_t number);
/// kEventReadRemote
void read_remote(Engine& engine, QpId qp, std::uint64_t number);
/// kEventAtomic
void execute_atomic(Engine& engine, NodeId node);
/// kEventAtomicDone, and the commit of an atomic's write.
void atomic_unit_free(Engine& engine, NodeId node);
/// kEventRespond
void respond(Engine& engine, QpId qp);

}  // namespace loco::nic
