// What a packet asks for or answers: the operations of the BTH opcode of InfiniBand (IBTA volume 1, section 9.2.1),
// without its first, middle and last, which packets keep apart as flags. Trace files hold these numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loco::rdma {

enum class PacketOpcode : std::uint8_t {
  // requests
  write,
  read_request,
  compare_swap,
  fetch_add,
  send,
  datagram,  ///< the SEND of an unreliable datagram
  // responses
  ack,
  nak,
  read_response,
  atomic_response,
  cnp,  ///< congestion notification (RoCE v2 annex A17.9.3): travels like a response, belongs to no request
};

inline constexpr std::array<std::string_view, 11> kPacketOpcodeNames = {
    "WRITE", "READ request", "CMP_SWAP",      "FETCH_ADD",       "SEND", "SEND (UD)",
    "ACK",   "NAK",          "READ response", "atomic response", "CNP"};

[[nodiscard]] constexpr std::string_view name(PacketOpcode op) {
  return kPacketOpcodeNames[static_cast<std::size_t>(op)];
}

/// Is it the request of a remote atomic?
[[nodiscard]] constexpr bool is_atomic(PacketOpcode op) {
  return op == PacketOpcode::compare_swap || op == PacketOpcode::fetch_add;
}

[[nodiscard]] constexpr bool is_response(PacketOpcode op) { return op >= PacketOpcode::ack; }

}  // namespace loco::rdma
