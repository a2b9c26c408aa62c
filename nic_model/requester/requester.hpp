// The requester of a queue pair: from the doorbell to the CQE (IBTA volume 1, 9.7 and 10.7; docs/machine.md, "NIC,
// requester side").
//
// Order per queue pair: work requests are fetched, start, have their payload read, send their packets and complete in
// the order in which they were posted. Not ordered: a later payload read and an earlier packet on its way. The fence
// flag holds a work request until the queue pair's earlier READs and atomics are complete and its earlier packets
// are sent. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Bytes of a work request that carries its payload: 16-byte control segment, a WRITE's 16-byte address segment, 4-byte
/// count, payload (rdma-core, providers/mlx5).
[[nodiscard]] std::uint64_t inline_wqe_bytes(const Wqe& wqe);

/// What the NIC reads from memory for a work request before it sends: a payload, or an atomic's operands.
[[nodiscard]] std::uint32_t bytes_to_read(const Wqe& wqe);
/// The next step of that read, once `done` bytes have been read.
struct PayloadStep {
  Address address = 0;
  std::uint32_t bytes = 0;
};
[[nodiscard]] PayloadStep payload_step(const Engine& engine, const Wqe& wqe, std::uint32_t done);

// wqe_fetch.cpp
/// kEventDoorbell: the oldest doorbell reaches the NIC.
void doorbell_arrived(Engine& engine, NodeId node);
/// No posted write is in front of the read of work requests any more.
void wqe_fetch_may_execute(Engine& engine, const HeldRead& read);
/// kEventFetchWqe: `count` work requests are in the NIC.
void wqes_fetched(Engine& engine, QpId qp, std::uint64_t count);

// requester.cpp
/// No posted write is in front of the read of a payload any more: its turn is behind earlier payloads.
void payload_read_may_execute(Engine& engine, const HeldRead& read);
/// kEventReadPayload
void read_payload(Engine& engine, QpId qp, std::uint32_t number);
/// kEventTransmit
void transmit(Engine& engine, QpId qp);

// What the files of the requester (also acknowledge.cpp, retransmit.cpp) need of each other.
/// Starts work requests, in order, until one has to wait. `delay`: between the event being handled and its effect.
void start(Engine& engine, QpId qp, sim::Duration delay);
/// Completes what is done, in order.
void complete(Engine& engine, QpId qp, sim::Duration delay);
/// Sees to it that the next packet is sent, if it can be.
void schedule_transmit(Engine& engine, QpId qp);
/// Gives back what a work request holds.
void release_entry(Engine& engine, SendEntry& entry);
/// Gives back the places of finished work requests.
void free_finished(Engine& engine, Requester& requester);
/// The queue pair can send nothing more: everything that the NIC knows of is flushed, in order.
void flush_sends(Engine& engine, QpId qp);
}  // namespace loco::nic
