// A network under load without NICs: hosts that send messages as packets of an MTU and answer with ACKs, and with CNPs
// when DCQCN is on. No retransmission: what is lost stays lost and is counted. A value, like the fabric in it.
//
// Flows of a host share its port packet by packet, in turns. Times are those at which packets are handed over.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/congestion/dcqcn.hpp"
#include "fabric/packet_network.hpp"
#include "sim/event_queue.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// Picoseconds a byte at 100 Gb/s, the rate of fast_network.
inline constexpr std::int64_t kByte = 80;

/// A message from one host to another.
struct Flow {
  NodeId source = 0;
  NodeId destination = 0;
  std::uint64_t bytes = 0;
  sim::SimTime start{};
};

struct FlowState {
  std::uint64_t sent = 0;       // payload bytes
  std::uint64_t delivered = 0;  // payload bytes
  std::uint32_t next_psn = 0;
  std::uint32_t expected_psn = 0;
  std::uint32_t acks = 0;  // packets acknowledged
  std::uint32_t out_of_order = 0;
  std::uint32_t marked = 0;
  std::uint32_t cnps = 0;
  sim::SimTime last_delivery{};
  sim::SimTime last_ack{};
  sim::SimTime pace{};  // earliest time of the next packet
  Dcqcn rate{};
  CnpPacer pacer{};
  bool operator==(const FlowState&) const = default;
};

class Traffic {
 public:
  static constexpr std::uint32_t kMtu = 4096;
  static constexpr std::uint32_t kOverhead = 82;  // RoCE v2: Ethernet, IPv4, UDP, BTH, ICRC

  /// `ack_every`: packets that one ACK answers (the last packet of a message always is); 0: no ACKs.
  Traffic(const Config& config, std::vector<Flow> flows, std::uint32_t ack_every = 1);

  /// Handles the earliest event; false when there is none.
  bool step();
  /// The invariants of the network are checked every few steps, and at the end.
  void run() {
    constexpr std::uint64_t kNowAndThen = 4096;
    while (step())
      if (handled_ % kNowAndThen == 0) fabric_.check(now_);
    fabric_.check(now_);
  }

  /// Takes the earliest event's time without handling it; for samplers. Precondition: events are pending.
  [[nodiscard]] sim::SimTime next_time() const { return events_.earliest().at; }
  [[nodiscard]] bool idle() const { return events_.empty(); }

  [[nodiscard]] const PacketNetwork& fabric() const { return fabric_; }
  [[nodiscard]] sim::SimTime now() const { return now_; }
  [[nodiscard]] std::uint64_t events() const { return handled_; }
  [[nodiscard]] const std::vector<FlowState>& flows() const { return states_; }
  [[nodiscard]] std::uint64_t data_packets_delivered() const { return data_packets_; }
  /// When the last flow's last packet was delivered.
  [[nodiscard]] sim::SimTime end() const;
  [[nodiscard]] bool all_delivered() const;
  /// FNV-1a over every delivery: packet, host and time.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  bool operator==(const Traffic& o) const {
    return fabric_ == o.fabric_ && states_ == o.states_ && now_ == o.now_ && handled_ == o.handled_;
  }

  static constexpr std::uint16_t kEventSend = 1;

 private:
  struct Host {
    std::vector<std::uint32_t> flows{};
    std::size_t turn = 0;
  };
  void send_next(NodeId host);
  sim::SimTime send_packet(std::uint32_t flow);
  void arrived(const Packet& packet);
  void answer(const Packet& packet, Opcode opcode);

  std::vector<Flow> flows_;
  std::vector<FlowState> states_;
  std::vector<Host> hosts_;
  std::uint32_t ack_every_;
  sim::EventQueue events_;
  PacketNetwork fabric_;
  sim::SimTime now_{};
  std::uint64_t handled_ = 0;
  std::uint64_t data_packets_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// 127 senders to host 0, say; everybody to host i + n/2; and so on.
[[nodiscard]] std::vector<Flow> incast(std::uint32_t hosts, std::uint32_t senders, std::uint64_t bytes);
[[nodiscard]] std::vector<Flow> permutation(std::uint32_t hosts, std::uint64_t seed, std::uint64_t bytes);

/// 100 Gb/s links of 1 us around 300 ns switches in this shape.
[[nodiscard]] Config fast_network(const topology::Parameters& shape);

}  // namespace loco::fabric
