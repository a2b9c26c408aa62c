// What an answer tells the congestion control of the connection that is answered (docs/congestion.md, "Feedback").
//
// In-band telemetry (INT): each switch writes into a packet, when that starts to leave a port, what the port has sent
// and what waits for it (Li et al., "HPCC", SIGCOMM 2019, section 4.1). On the wire it is 2 bytes, and 8 a switch; the
// receiver sends it back with the answer.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

inline constexpr std::uint32_t kTelemetryBytes = 2;
inline constexpr std::uint32_t kTelemetryHopBytes = 8;
inline constexpr std::uint32_t kTelemetryHops = 8;  ///< switches on one way that write; further ones do not

/// One port at the instant at which a packet began to leave it.
struct PortReport {
  sim::SimTime at{};
  std::uint64_t sent = 0;    ///< bytes that the port had sent, with this packet
  std::uint64_t queued = 0;  ///< bytes that waited behind it
  sim::BitsPerSecond rate{};
  bool operator==(const PortReport&) const = default;
};

struct Telemetry {
  std::uint32_t hops = 0;
  std::array<PortReport, kTelemetryHops> hop{};
  bool operator==(const Telemetry&) const = default;
  [[nodiscard]] std::uint32_t wire() const { return kTelemetryBytes + hops * kTelemetryHopBytes; }
};

/// The way of a connection's packets, alone on it.
struct CongestionPath {
  sim::BitsPerSecond line{};  ///< of the sender's port
  sim::Duration base_rtt{};   ///< from the first bit of a packet on the first link until its answer has been taken
  std::uint32_t switches = 0;
  sim::Bytes packet{};   ///< the largest on the wire
  sim::Bytes segment{};  ///< payload of it
  bool trims = false;    ///< switches cut packets that find no room
  bool operator==(const CongestionPath&) const = default;
};

struct Feedback {
  sim::Duration rtt{};        ///< of the packet that is answered; 0: it was sent more than once
  sim::Bytes acknowledged{};  ///< bytes on the wire that this answers first
  sim::Bytes in_flight{};     ///< bytes that are sent and not answered
  std::uint32_t packets = 0;  ///< packets that it answers
  Psn psn{};                  ///< the packet
  Psn next{};                 ///< behind everything that has been sent
  bool marked = false;        ///< ECN
  const Telemetry* telemetry = nullptr;
};

/// What is known to be lost.
struct Loss {
  sim::Bytes bytes{};      ///< on the wire, which counted as in flight until now
  sim::Bytes in_flight{};  ///< bytes that still are
  sim::Duration rtt{};     ///< where a packet's headers came in its place, until their answer; 0: not known
};

}  // namespace loco::fabric
