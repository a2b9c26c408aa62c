// A packet on the wire: one InfiniBand transport packet (IBTA volume 1, chapter 9) inside RoCE v2 framing.
//
// Packets are plain records that are copied from queue to queue. Payload bytes stay in the buffer pool of the
// system; a packet names a buffer and the part of it that it carries. Header sizes in bytes are those of the
// InfiniBand specification, sections 9.2-9.7.
#pragma once

#include <cstdint>

#include "rdma/packet_opcode.hpp"
#include "sim/id.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// A port of a NIC: what has an address, and its cables, on the network. Machines may have several NICs, and NICs
/// several ports.
using PortId = sim::Id<struct PortKind>;
using NodeId = std::uint32_t;  ///< a port as the graph knows it, a vertex: PortId::index()
using QpId = std::uint32_t;    ///< index of a queue pair, unique in the whole system

/// Packet sequence number: 24 bits, wraps (IBTA 9.7.1).
class Psn {
 public:
  static constexpr std::uint32_t kMask = 0xffffffU;
  constexpr Psn() = default;
  constexpr explicit Psn(std::uint32_t value) : value_(value & kMask) {}
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr Psn operator+(std::uint32_t n) const { return Psn(value_ + n); }
  /// Signed distance from `from` to this one, in [-2^23, 2^23).
  [[nodiscard]] constexpr std::int32_t distance(Psn from) const {
    const std::uint32_t d = (value_ - from.value_) & kMask;
    return d < (1U << 23U) ? static_cast<std::int32_t>(d) : static_cast<std::int32_t>(d) - (1 << 24);
  }
  constexpr bool operator==(const Psn&) const = default;

 private:
  std::uint32_t value_ = 0;
};

/// First and last packets are kept apart as flags.
using Opcode = rdma::PacketOpcode;
using rdma::is_atomic;
using rdma::is_response;

/// Congestion notification itself, and answers without payload, are sent as not ECN-capable: switches do not mark them.
[[nodiscard]] constexpr bool ecn_capable(Opcode op) {
  return op != Opcode::ack && op != Opcode::nak && op != Opcode::cnp;
}

/// AETH syndromes of a NAK (IBTA 9.7.5.2.8).
enum class NakCode : std::uint8_t {
  none,
  invalid_request,
  remote_access_error,
  remote_operational_error,
  psn_sequence_error,  ///< the packet's PSN is the one that is expected
  packet_trimmed,      ///< the headers of a packet have come, `a` is its PSN; the PSN is the one that is expected
  receiver_not_ready,  ///< RNR NAK (9.7.5.2.8 and table 45): `a` is how long to wait, in picoseconds
};

inline constexpr std::uint32_t kNoBuffer = 0xffffffffU;

struct Packet {
  PortId source{};
  PortId destination{};
  QpId source_qp = 0;
  QpId destination_qp = 0;
  Opcode opcode = Opcode::write;
  bool first : 1 = true;
  bool last : 1 = true;
  std::uint8_t traffic_class = 0;  ///< of the sending queue pair
  NakCode nak = NakCode::none;
  bool marked : 1 = false;       ///< ECN: congestion experienced; of an ACK or NAK, that what it answers was marked
  bool immediate : 1 = false;    ///< carries immediate data
  bool ack_request : 1 = false;  ///< BTH: the requester wants an ACK for this packet
  bool trimmed : 1 = false;      ///< a switch had no room for its payload
  std::uint16_t entropy = 0;     ///< what ecmp hashes beside the flow: the UDP source port; of an answer, the request's
  Psn psn{};
  std::uint32_t wqe = 0;             ///< running number of the request in the requester's send queue (its MSN)
  std::uint32_t rkey = 0;            ///< RETH / AtomicETH
  std::uint32_t buffer = kNoBuffer;  ///< payload: `length` bytes from `offset` of this buffer
  std::uint32_t offset = 0;          ///< of this packet in its message
  std::uint32_t length = 0;          ///< payload bytes in this packet
  std::uint32_t total = 0;           ///< bytes of the whole message
  std::uint32_t wire = 0;            ///< bytes on the wire, framing and headers included
  std::uint64_t address = 0;         ///< RETH / AtomicETH: remote address of the message's first byte
  std::uint64_t a = 0;               ///< compare value, or the value added; an atomic's old value; immediate data
  std::uint64_t b = 0;               ///< swap value; of a WRITE, SEND or ACK, the name of its telemetry in the network
                                     ///< (Network::keep_telemetry), 0: none
  std::uint32_t call = 0;            ///< not on the wire: the call that a request belongs to, for the trace
  std::uint32_t serial = 0;          ///< not on the wire: which packet of the run this is, for the trace
  std::uint32_t thread = 0;          ///< not on the wire: whose work request it is, of a request, for the trace
  std::uint32_t oldest = 0;          ///< not on the wire: `wqe` of the oldest request that its sender knows of,
                                     ///< of a READ, for the trace

  bool operator==(const Packet&) const = default;
};

inline constexpr std::uint32_t kRethBytes = 16;
inline constexpr std::uint32_t kAethBytes = 4;
inline constexpr std::uint32_t kAtomicEthBytes = 28;
inline constexpr std::uint32_t kAtomicAckEthBytes = 8;
inline constexpr std::uint32_t kCnpReservedBytes = 16;
inline constexpr std::uint32_t kDethBytes = 8;
inline constexpr std::uint32_t kImmediateBytes = 4;

/// Extension headers that a packet carries besides BTH: RETH on a write's first packet and on a read request, AETH
/// on an ACK, a NAK and a read response's first and last packet, AtomicETH, AETH + AtomicAckETH, DETH on a datagram,
/// ImmDt where there is immediate data.
[[nodiscard]] constexpr std::uint32_t extension_header_bytes(Opcode op, bool first, bool last, bool immediate = false) {
  const std::uint32_t imm = immediate ? kImmediateBytes : 0;
  switch (op) {
    case Opcode::write:
      return (first ? kRethBytes : 0) + imm;
    case Opcode::send:
      return imm;
    case Opcode::datagram:
      return kDethBytes + imm;
    case Opcode::read_request:
      return kRethBytes;
    case Opcode::compare_swap:
    case Opcode::fetch_add:
      return kAtomicEthBytes;
    case Opcode::ack:
    case Opcode::nak:
      return kAethBytes;
    case Opcode::read_response:
      return first || last ? kAethBytes : 0;
    case Opcode::atomic_response:
      return kAethBytes + kAtomicAckEthBytes;
    case Opcode::cnp:
      return kCnpReservedBytes;
  }
  return 0;
}

}  // namespace loco::fabric
