// RoCE v2 frames byte by byte. The invariant CRCs are those that scapy 2.8.0 (scapy.contrib.roce) computes for these
// packets, and tshark 4.0.17 dissects them as the comments say.
#include "fabric/frame.hpp"

#include <fmt/format.h>
#include <string>

#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;

namespace {
std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

/// From host 0's queue pair 0 (number 0x10) to host 1's queue pair 1.
Packet request(Opcode opcode, std::uint32_t psn) {
  return {.source = PortId(0),
          .destination = PortId(1),
          .source_qp = 0,
          .destination_qp = 1,
          .opcode = opcode,
          .psn = Psn(psn),
          .rkey = 0x1234,
          .total = 6'000,
          .address = 0x7f00'0000'1000};
}
Packet answer(Opcode opcode, std::uint32_t psn) {
  return {.source = PortId(1),
          .destination = PortId(0),
          .source_qp = 1,
          .destination_qp = 0,
          .opcode = opcode,
          .psn = Psn(psn)};
}
std::string crc_of(const Packet& packet) {
  const Frame frame = roce_frame(packet, Transport::rc, {}, 65'536, 0);
  return hex(std::span(frame.bytes).last(4));
}
}  // namespace

TEST_CASE("frame: an ACK, byte by byte") {
  const Frame frame = roce_frame(answer(Opcode::ack, 0xffffff), Transport::rc, {}, 64, 0);
  CHECK(frame.length == 62);
  CHECK(hex(frame.bytes) ==
        "020000000001"
        "020000000002"
        "0800"  // Ethernet
        "45680030000040004011"
        "2653"
        "0a0000020a000001"  // IPv4: DSCP 26, ECN 0; the header's checksum
        "c00112b7001c0000"  // UDP: 49153 to 4791
        "1140ffff00000010"
        "00ffffff"  // BTH: RC Acknowledge, queue pair 0x10
        "1f000001"  // AETH: MSN 1
        "3272de5a");
}

TEST_CASE("frame: invariant CRCs of each kind of packet") {
  Packet write = request(Opcode::write, 0xfffffe);  // RC RDMA Write First
  write.last = false;
  write.length = 4'096;
  CHECK(crc_of(write) == "8a566de7");
  Packet last = request(Opcode::write, 0xffffff);  // RC RDMA Write Last Immediate
  last.first = false;
  last.immediate = last.ack_request = last.marked = true;
  last.length = 1'902;  // and two bytes of padding
  last.a = 7;
  CHECK(crc_of(last) == "f92b696c");
  Packet nak = answer(Opcode::nak, 0);  // [PSN Sequence Error]
  nak.nak = NakCode::psn_sequence_error;
  CHECK(crc_of(nak) == "88e414d5");
  CHECK(crc_of(answer(Opcode::cnp, 0)) == "185a086d");
  CHECK(crc_of(request(Opcode::read_request, 1)) == "c56c6c6c");  // RC RDMA Read Request
  Packet swap = request(Opcode::compare_swap, 2);                 // RC Compare Swap
  swap.b = 5;
  swap.a = 6;
  CHECK(crc_of(swap) == "efbfe6f4");
}

TEST_CASE("frame: padding, marks, and what is snapped") {
  Packet send = request(Opcode::send, 9);
  send.length = 1'898;
  send.marked = true;
  const std::vector<std::byte> payload(1'898, std::byte{0x5a});
  const Frame whole = roce_frame(send, Transport::rc, payload, 4'096, 0);
  CHECK(whole.bytes.size() == whole.length);
  CHECK(whole.length == 14 + 28 + 12 + 1'898 + 2 + 4);
  CHECK(hex(std::span(whole.bytes).subspan(42, 2)) == "0460");  // SEND Only, two bytes of padding
  CHECK(hex(std::span(whole.bytes).subspan(15, 1)) == "6b");    // DSCP 26, congestion experienced
  const Frame snapped = roce_frame(send, Transport::rc, payload, 64, 0);
  CHECK(snapped.length == whole.length);
  CHECK(hex(snapped.bytes) == hex(std::span(whole.bytes).first(14 + 28 + 12 + 64)));
}

TEST_CASE("frame: fields that change on the way do not change the invariant CRC, others do") {
  Packet send = request(Opcode::send, 9);
  const std::string crc = crc_of(send);
  send.marked = true;
  CHECK(crc_of(send) == crc);
  send.psn = Psn(10);
  CHECK(crc_of(send) != crc);
}

TEST_CASE("frame: a pause of class 3, and its end") {
  const Frame stop = pause_frame(4, 1U << 3U, true);
  CHECK(stop.length == 60);
  CHECK(hex(std::span(stop.bytes).first(34)) ==
        "0180c20000010200000000058808"
        "0101"
        "0008"
        "000000000000ffff0000000000000000");
  const Frame go_on = pause_frame(4, 1U << 3U, false);
  CHECK(hex(std::span(go_on.bytes).subspan(16, 18)) ==
        "0008"
        "00000000000000000000000000000000");
}
