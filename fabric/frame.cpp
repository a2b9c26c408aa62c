#include "fabric/frame.hpp"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>

namespace loco::fabric {

namespace {

constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kBthBytes = 12;
constexpr std::size_t kCrcBytes = 4;
constexpr std::uint16_t kRocePort = 4791;
constexpr std::uint16_t kPorts = 49152;
constexpr std::uint8_t kDscp = 26;
constexpr std::uint8_t kDscpOfCnp = 48;

/// Writes in network byte order.
class Writer {
 public:
  void number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i > 0; --i) bytes_.push_back(static_cast<std::byte>((value >> (8 * (i - 1))) & 0xffU));
  }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  void copy(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void mac(Writer& w, std::uint32_t device) { w.number(0x0200'0000'0000ULL + device + 1, 6); }

/// By place in the message: first, middle, last, last with immediate data, only, only with immediate data.
std::uint8_t by_place(const Packet& p, const std::array<std::uint8_t, 6>& codes) {
  if (p.first && p.last) return codes[p.immediate ? 5 : 4];
  if (p.first) return codes[0];
  return p.last ? codes[p.immediate ? 3 : 2] : codes[1];
}

/// IBTA volume 1, table 38.
std::uint8_t opcode_of(const Packet& p, Transport transport) {
  const std::uint8_t base = transport == Transport::uc ? 0x20 : 0;
  switch (p.opcode) {
    case Opcode::send:
      return static_cast<std::uint8_t>(base + by_place(p, {0x00, 0x01, 0x02, 0x03, 0x04, 0x05}));
    case Opcode::write:
      return static_cast<std::uint8_t>(base + by_place(p, {0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}));
    case Opcode::datagram:
      return p.immediate ? 0x65 : 0x64;
    case Opcode::read_request:
      return 0x0c;
    case Opcode::read_response:
      return by_place(p, {0x0d, 0x0e, 0x0f, 0x0f, 0x10, 0x10});
    case Opcode::ack:
    case Opcode::nak:
      return 0x11;
    case Opcode::atomic_response:
      return 0x12;
    case Opcode::compare_swap:
      return 0x13;
    case Opcode::fetch_add:
      return 0x14;
    case Opcode::cnp:
      return 0x81;
  }
  return 0;
}

/// The 5-bit code of the shortest RNR timer that is no shorter (IBTA volume 1, table 45).
std::uint8_t rnr_code(std::uint64_t ps) {
  constexpr std::array<std::uint32_t, 32> kMicroseconds = {
      655'360, 10,     20,     30,     40,     60,      80,      120,     160,     240,    320,
      480,     640,    960,    1'280,  1'920,  2'560,   3'840,   5'120,   7'680,   10'240, 15'360,
      20'480,  30'720, 40'960, 61'440, 81'920, 122'880, 163'840, 245'760, 327'680, 491'520};
  for (std::uint8_t code = 1; code < kMicroseconds.size(); ++code)
    if (ps <= std::uint64_t{kMicroseconds[code]} * 1'000'000) return code;
  return 0;
}

/// IBTA volume 1, 9.7.5.2: the flow control credits of an ACK are invalid, as those of NICs without them.
std::uint8_t syndrome_of(const Packet& p) {
  if (p.opcode != Opcode::nak) return 0x1f;
  switch (p.nak) {
    case NakCode::receiver_not_ready:
      return static_cast<std::uint8_t>(0x20U | rnr_code(p.a));
    case NakCode::invalid_request:
      return 0x61;
    case NakCode::remote_access_error:
      return 0x62;
    case NakCode::remote_operational_error:
      return 0x63;
    default:
      return 0x60;
  }
}

void reth(Writer& w, const Packet& p) {
  w.number(p.address, 8);
  w.number(p.rkey, 4);
  w.number(p.total, 4);
}

void aeth(Writer& w, const Packet& p) {
  w.number(syndrome_of(p), 1);
  w.number((p.wqe + 1) & 0xffffffU, 3);  // MSN: requests that are complete
}

void extensions(Writer& w, const Packet& p) {
  switch (p.opcode) {
    case Opcode::write:
      if (p.first) reth(w, p);
      break;
    case Opcode::read_request:
      reth(w, p);
      break;
    case Opcode::datagram:
      w.number(p.rkey, 4);  // the Q_Key
      w.number(p.source_qp + kFirstQueuePairNumber, 4);
      break;
    case Opcode::compare_swap:
    case Opcode::fetch_add:
      w.number(p.address, 8);
      w.number(p.rkey, 4);
      w.number(p.opcode == Opcode::compare_swap ? p.b : p.a, 8);
      w.number(p.opcode == Opcode::compare_swap ? p.a : 0, 8);
      break;
    case Opcode::read_response:
      if (p.first || p.last) aeth(w, p);
      break;
    case Opcode::ack:
    case Opcode::nak:
      aeth(w, p);
      break;
    case Opcode::atomic_response:
      aeth(w, p);
      w.number(p.a, 8);
      break;
    case Opcode::cnp:
      w.zeros(kCnpReservedBytes);
      break;
    case Opcode::send:
      break;
  }
  if (p.immediate) w.number(p.a, kImmediateBytes);
}

std::uint8_t traffic_class(const Packet& p) {
  const std::uint8_t ecn = !ecn_capable(p.opcode) ? 0 : p.marked ? 3 : 2;
  // Class c has the eight code points from 8 c on, as switches map them by default; class 3 that of RoCE.
  const unsigned of_class = p.traffic_class == 0 ? kDscp : 8U * p.traffic_class + 2;
  return static_cast<std::uint8_t>((p.opcode == Opcode::cnp ? kDscpOfCnp : of_class) << 2U | ecn);
}

std::uint16_t checksum(std::span<const std::byte> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2) {
    sum += std::to_integer<std::uint32_t>(header[i]) << 8U | std::to_integer<std::uint32_t>(header[i + 1]);
  }
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

void ip_and_udp(Writer& w, const Packet& p, std::size_t behind, std::uint16_t identification) {
  const std::size_t begin = w.bytes().size();
  w.number(0x45, 1);
  w.number(traffic_class(p), 1);
  w.number(kIpBytes + kUdpBytes + behind, 2);
  w.number(identification, 2);
  w.number(0x4000, 2);  // don't fragment
  w.number(64, 1);
  w.number(17, 1);
  w.number(0, 2);
  w.number(0x0a00'0000U + p.source.index() + 1, 4);
  w.number(0x0a00'0000U + p.destination.index() + 1, 4);
  const std::uint16_t sum = checksum(std::span(w.bytes()).subspan(begin, kIpBytes));
  w.bytes()[begin + 10] = static_cast<std::byte>(sum >> 8U);
  w.bytes()[begin + 11] = static_cast<std::byte>(sum & 0xffU);
  w.number(kPorts + ((p.source_qp + p.entropy) & 0x3fffU), 2);
  w.number(kRocePort, 2);
  w.number(kUdpBytes + behind, 2);
  w.number(0, 2);  // RoCE v2 sends no UDP checksum
}

void bth(Writer& w, const Packet& p, Transport transport, std::uint32_t pad) {
  w.number(opcode_of(p, transport), 1);
  w.number(0x40U | pad << 4U, 1);  // MigReq, pad count
  w.number(0xffff, 2);             // the default P_Key
  w.number(p.destination_qp + kFirstQueuePairNumber, 4);
  w.number(p.ack_request || p.opcode == Opcode::read_request || is_atomic(p.opcode) ? 0x80 : 0, 1);
  w.number(p.psn.value(), 3);
}

}  // namespace

std::uint32_t invariant_crc(std::span<const std::byte> packet) {
  // Eight bytes of ones, where InfiniBand has its local header; fields that change on the way count as ones.
  std::vector<std::byte> masked(8, std::byte{0xff});
  masked.insert(masked.end(), packet.begin(), packet.end());
  for (const std::size_t at : {std::size_t{1}, std::size_t{8}, std::size_t{10}, std::size_t{11},  // DSCP, TTL, checksum
                               kIpBytes + 6, kIpBytes + 7, kIpBytes + kUdpBytes + 4}) {  // UDP's, BTH's reserved
    masked[8 + at] = std::byte{0xff};
  }
  boost::crc_32_type crc;
  crc.process_bytes(masked.data(), masked.size());
  return crc.checksum();
}

Frame roce_frame(const Packet& packet, Transport transport, std::span<const std::byte> payload, std::uint32_t snap,
                 std::uint16_t identification) {
  const std::uint32_t pad = (4 - packet.length % 4) % 4;
  Writer extension;
  extensions(extension, packet);
  const std::size_t behind = kBthBytes + extension.bytes().size() + packet.length + pad + kCrcBytes;
  Writer w;
  mac(w, packet.destination.index());
  mac(w, packet.source.index());
  w.number(0x0800, 2);
  ip_and_udp(w, packet, behind, identification);
  bth(w, packet, transport, pad);
  w.copy(extension.bytes());
  const std::size_t headers = w.bytes().size();
  if (payload.empty()) {
    w.zeros(packet.length);
  } else {
    w.copy(payload.first(packet.length));
  }
  w.zeros(pad);
  const std::uint32_t crc = invariant_crc(std::span(w.bytes()).subspan(kEthernetBytes));
  for (unsigned i = 0; i < kCrcBytes; ++i) w.bytes().push_back(static_cast<std::byte>(crc >> (8 * i) & 0xffU));
  Frame frame{.bytes = std::move(w.bytes())};
  frame.length = static_cast<std::uint32_t>(frame.bytes.size());
  if (packet.length > snap) frame.bytes.resize(headers + snap);
  return frame;
}

Frame pause_frame(std::uint32_t device, std::uint8_t classes, bool stop) {
  constexpr std::size_t kLeast = 60;  // of a frame without its check sequence
  Writer w;
  w.number(0x0180'c200'0001ULL, 6);
  mac(w, device);
  w.number(0x8808, 2);
  w.number(0x0101, 2);
  w.number(classes, 2);
  for (unsigned i = 0; i < 8; ++i) w.number(stop && (std::uint32_t{classes} >> i & 1U) != 0 ? 0xffff : 0, 2);
  w.zeros(kLeast - w.bytes().size());
  Frame frame{.bytes = std::move(w.bytes())};
  frame.length = kLeast;
  return frame;
}

}  // namespace loco::fabric
