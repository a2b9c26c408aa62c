// A packet as it is on an Ethernet cable: RoCE v2 (InfiniBand architecture annex A17), byte by byte, for captures.
//
//   Ethernet (02:00:host + 1) | IPv4 (10.host + 1; DSCP 26, of CNPs 48; ECN; don't fragment; TTL 64) | UDP to 4791 |
//   BTH | extension headers (packet.hpp) | payload, padded to four bytes | invariant CRC
// No frame check sequence, as capturing NICs leave it out. Queue pair numbers are those of the simulation and 16: 0 and
// 1 are special. The UDP source port is 49152 and the sending queue pair. What is on the wire of the simulation besides
// is not in it: telemetry, and the RETH of later packets of a WRITE that is placed out of order, for which RoCE has no
// opcodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/packet.hpp"

namespace loco::fabric {

enum class Transport : std::uint8_t { rc, uc, ud };

inline constexpr std::uint32_t kFirstQueuePairNumber = 16;

struct Frame {
  std::vector<std::byte> bytes{};  ///< snapped: headers, and of the payload as much as was asked for
  std::uint32_t length = 0;        ///< of the whole frame
};

/// `payload`: packet.length bytes, or none, which stands for zeros. `snap`: bytes of it that are kept; a frame whose
/// payload is no longer is kept whole. `identification`: of the IPv4 header.
[[nodiscard]] Frame roce_frame(const Packet& packet, Transport transport, std::span<const std::byte> payload,
                               std::uint32_t snap, std::uint16_t identification);

/// A PFC frame (IEEE 802.1Qbb) from the device with this number, for the classes whose bit is set: pause for ever, or
/// go on.
[[nodiscard]] Frame pause_frame(std::uint32_t device, std::uint8_t classes, bool stop);

/// The invariant CRC of a RoCE v2 packet (annex A17.3.3) from its IPv4 header to its payload, as a number of which the
/// low byte is sent first.
[[nodiscard]] std::uint32_t invariant_crc(std::span<const std::byte> packet);

}  // namespace loco::fabric
