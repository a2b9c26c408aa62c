// Placing messages: what all transports share, and the responders of the unreliable ones (IBTA volume 1, 9.7.4, 9.8.2
// and 9.8.3).
//
// UC: no answers. A gap in the PSNs gives up the message that it cuts; the next first packet starts afresh. UD: each
// packet is a message; the receive buffer begins with the 40 bytes of a GRH, which are left as they are. What cannot be
// received, for want of a receive work request or of the right key, is dropped without a word. Private to nic_model/.
#pragma once

#include "nic_model/engine.hpp"
#include "nic_model/pcie.hpp"

namespace loco::nic {

/// Bytes in front of a datagram (IBTA volume 1, 8.3).
inline constexpr std::uint32_t kGrhBytes = 40;

/// Posts the payload of a WRITE's packet.
void place_write(Engine& engine, QpId qp, const fabric::Packet& packet, const WriteOrigin& origin);
/// Uses a receive work request for a WRITE with immediate data. Precondition: can_receive().
void complete_immediate(Engine& engine, QpId qp, const fabric::Packet& packet);
/// Posts the payload of a SEND's packet behind what has come of the message; completes the receive with the last
/// packet, or when it does not fit or may not be written: that status. Precondition for a first packet: can_receive().
/// `like`: what the CQE says besides.
Status place_send(Engine& engine, QpId qp, const fabric::Packet& packet, const WriteOrigin& origin, Cqe like,
                  std::uint32_t header = 0);

/// A request packet has arrived at an unreliable queue pair (or a datagram at any).
void unreliable_arrived(Engine& engine, const fabric::Packet& packet);

}  // namespace loco::nic
