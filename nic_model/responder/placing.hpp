// Placing messages: WRITEs where they say, SENDs where a receive work request says, for all transports (IBTA volume 1,
// 9.7.4). A packet's payload is a posted write, and the receive CQE one behind it. The responder has checked the rights
// of a WRITE; those of a SEND are its receive work request's, and are checked here. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Posts the payload of a WRITE's packet.
void place_write(Engine& engine, QpId qp, const fabric::Packet& packet);
/// Uses a receive work request for a WRITE with immediate data. Precondition: can_receive().
void complete_immediate(Engine& engine, QpId qp, const fabric::Packet& packet);
/// Posts the payload of a SEND's packet behind what has come of the message; completes the receive with the last
/// packet, or when it does not fit or may not be written: that status. Precondition for a first packet: can_receive().
/// `like`: what the CQE says besides. `header`: bytes that are left as they are in front of the message.
Status place_send(Engine& engine, QpId qp, const fabric::Packet& packet, Cqe like, std::uint32_t header = 0);

}  // namespace loco::nic
