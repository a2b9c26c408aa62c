// What a responder does with receive work requests, until the receive CQE (IBTA volume 1, 9.7.5 and 10.8).
//
// Order: a SEND takes the oldest one with its first packet, a WRITE with immediate data with its last. The receive CQE
// is a posted write behind the message's data. The NIC has fetched receive work requests before they are needed: their
// fetch takes no time. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// The doorbell record of a receive queue has reached memory: `count` more entries are the NIC's.
void receives_posted(Engine& engine, std::uint32_t queue, std::uint32_t count);
/// Is there a receive work request for a message of this queue pair?
[[nodiscard]] bool can_receive(const Engine& engine, QpId qp);
/// Takes the next one. Precondition: can_receive().
void take_receive(Engine& engine, QpId qp);
/// May [address, address + length) of the receive that was taken be written? Else the status of its CQE.
[[nodiscard]] Status check_receive(const Engine& engine, QpId qp, std::uint64_t length);
/// Completes the receive that was taken. `like`: opcode, length, immediate data, source. `delay`: what its last
/// packet's data needs before it is on PCIe.
void complete_receive(Engine& engine, QpId qp, Cqe like, Status status, sim::Duration delay = {});
/// The queue pair is in error: its receives are completed as flushed, a shared queue's apart.
void flush_receives(Engine& engine, QpId qp);

}  // namespace loco::nic
