// The requester of a queue pair: from the doorbell to the CQE (IBTA volume 1, 9.7 and 10.7; machine page, "NIC,
// requester side").
//
// Order per queue pair: work requests are fetched, start, have their payload read, send their packets and complete in
// the order in which they were posted. Not ordered: a later payload read and an earlier packet on its way. The fence
// flag holds a work request until the queue pair's earlier READs and atomics are complete and its earlier packets
// are sent. Private to nic_model/.
#pragma once

#include "nic_model/engine.hpp"

namespace loco::nic {

/// kEventDoorbell: the oldest doorbell reaches the NIC.
void doorbell_arrived(Engine& engine, NodeId node);
void wqe_fetch_may_execute(Engine& engine, QpId qp, std::uint64_t count, sim::SimTime due);
/// kEventFetchWqe
void wqes_fetched(Engine& engine, QpId qp, std::uint64_t count);
void payload_read_may_execute(Engine& engine, QpId qp, std::uint32_t number, sim::SimTime due);
/// kEventReadPayload
void read_payload(Engine& engine, QpId qp, std::uint32_t number);
/// kEventTransmit
void transmit(Engine& engine, QpId qp);
/// A response packet has arrived.
void response_arrived(Engine& engine, const fabric::Packet& packet);
/// kEventRetryExceeded
void retry_exceeded(Engine& engine, QpId qp, std::uint32_t number);

/// Gives a packet to the network: adds headers, counts, announces. Returns when the NIC can send the next one.
sim::SimTime send_packet(Engine& engine, fabric::Packet packet);
/// If the port is paused: has the queue pair wait for it, in turn, and returns true.
bool wait_for_port(Engine& engine, QpId id, bool responder);
/// The port of a node is not paused any more.
void port_resumed(Engine& engine, NodeId node);
/// Answers a packet that was marked on its way with a CNP, if congestion control is on and one is due.
void answer_mark(Engine& engine, const fabric::Packet& packet);

}  // namespace loco::nic
