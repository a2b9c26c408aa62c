// The responder of a queue pair: requests become memory accesses, answers go back (IBTA volume 1, 9.7.5; machine
// page, "NIC, responder side").
//
// Order per queue pair: requests are taken in PSN order, responses leave in PSN order. What has come before is answered
// again and not executed again, READs apart; what comes too early is dropped and asked for, once. A WRITE is
// acknowledged once posted to PCIe, before memory has it. A READ is behind the queue pair's posted writes and ordered
// with nothing else: a later READ or WRITE may take effect first. Requests behind an atomic wait until its write is
// posted. A NIC executes one atomic at a time: read, modify, write; the next one's read is behind that write. Private
// to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// A request packet has arrived.
void request_arrived(Engine& engine, const fabric::Packet& packet);
/// kEventStrayRequest
void stray_request(Engine& engine, QpId qp, std::uint32_t slot);
/// Executes what has been waiting for an atomic.
void execute_waiting(Engine& engine, QpId qp);

}  // namespace loco::nic
