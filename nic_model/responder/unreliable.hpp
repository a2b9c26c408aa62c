// The responders of the unreliable transports (IBTA volume 1, 9.8.2 and 9.8.3).
//
// UC: no answers. A gap in the PSNs gives up the message that it cuts; the next first packet starts afresh. UD: each
// packet is a message; the receive buffer begins with the 40 bytes of a GRH, which are left as they are. What cannot be
// received, for want of a receive work request or of the right key, is dropped without a word. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Bytes in front of a datagram (IBTA volume 1, 8.3).
inline constexpr std::uint32_t kGrhBytes = 40;

/// A request packet has arrived at an unreliable queue pair (or a datagram at any).
void unreliable_arrived(Engine& engine, const fabric::Packet& packet);

}  // namespace loco::nic
