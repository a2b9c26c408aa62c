// A network in which messages flow: each shares links with all others while it is under way, max-min fairly. Who shares
// what with whom is not worked out here (flow/ does, with SimGrid), but everything that has an order: in which order
// the messages of a queue pair leave and arrive, and when each is handed over.
//
// A packet here is a message. Each queue pair has two lanes, of its requests and of its responses; of each lane one
// flow at a time is under way. Whoever owns the links takes the flows that are to start (take_start) and tells when
// they have left their source (flow_ended). What a host sends to itself passes no link: a lane a host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/lane.hpp"
#include "fabric/network.hpp"
#include "fabric/packet.hpp"
#include "fabric/route_time.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// A message whose flow is to start; or, `withdrawn`, the lane whose last flow goes no further.
struct FlowStart {
  sim::SimTime at{};
  std::uint32_t lane = 0;
  NodeId source = 0;
  NodeId destination = 0;
  std::uint64_t bytes = 0;  ///< on the wire
  Burst burst{};            ///< the packets that it stands for
  bool withdrawn = false;
  bool operator==(const FlowStart&) const = default;
};

/// What the route of a flow makes of it, when that has left its source.
struct FlowEnd {
  sim::Duration latency{};    ///< its last byte is handed over so much later,
  sim::Duration last{};       ///< and no earlier than its last packet alone would be, from when that was at the port
  sim::BitsPerSecond rate{};  ///< of the narrowest link; 0: no limit
  bool operator==(const FlowEnd&) const = default;
};

class FlowNetwork final : public Network {
 public:
  /// Throws std::invalid_argument (topology::TopologyError for a bad shape).
  explicit FlowNetwork(const Config& config);

  void add_queue_pair(QpId qp) override;
  sim::SimTime send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet) override;
  std::optional<Packet> handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) override;
  void announce(sim::SimTime now, sim::Duration latency, const Packet& packet) override;
  void withdraw(QpId qp, bool response) override;
  /// A lane of several messages has one way: only datagrams go to many, and they are one packet each.
  [[nodiscard]] Train train(const Packet& packet) const override;

  /// The next flow that is to start, or that is withdrawn; each is told once.
  std::optional<FlowStart> take_start();
  /// The lane's flow has left its source.
  void flow_ended(sim::EventQueue& events, std::uint32_t lane, sim::SimTime now, const FlowEnd& end);

  [[nodiscard]] std::size_t packets_inside() const override { return packets_.in_use(); }
  [[nodiscard]] std::size_t lanes() const override { return lanes_.size(); }
  [[nodiscard]] std::size_t lane_size(std::size_t lane) const override { return lanes_[lane].arriving.size(); }
  [[nodiscard]] const Packet& lane_packet(std::size_t lane, std::size_t i) const override {
    return packets_[lanes_[lane].arriving[i].packet];
  }
  FlowNetwork* flow_network() override { return this; }
  [[nodiscard]] std::unique_ptr<Network> clone() const override { return std::make_unique<FlowNetwork>(*this); }
  void assign(const Network& other) override { *this = dynamic_cast<const FlowNetwork&>(other); }
  [[nodiscard]] bool equals(const Network& other) const override {
    const auto* o = dynamic_cast<const FlowNetwork*>(&other);
    return o != nullptr && *this == *o;
  }

  bool operator==(const FlowNetwork&) const = default;

 private:
  struct MessageLane {
    sim::Ring<Entry> waiting{};   // the first one's flow is under way; `at`: its last packet is at the port
    sim::Ring<Entry> arriving{};  // `at`: it is handed over
    std::uint32_t open = kNone;   // the packet of the message that is announced but not sent
    bool armed = false;           // an arrival event is pending
    FlowEnd end{};                // of the last flow that ended
    bool operator==(const MessageLane&) const = default;
  };

  [[nodiscard]] std::uint32_t lane_of(QpId qp, bool response) const {
    return config_.nodes + 2 * qp + (response ? 1 : 0);
  }
  [[nodiscard]] std::uint32_t lane_of(const Packet& packet) const {
    return lane_of(packet.source_qp, is_response(packet.opcode));
  }
  std::uint32_t keep(const Packet& packet);
  void append(sim::SimTime at, std::uint32_t lane, std::uint32_t slot);
  void start_flow(std::uint32_t lane, sim::SimTime at);
  void arm(sim::EventQueue& events, sim::SimTime now, std::uint32_t lane);

  std::vector<MessageLane> lanes_{};  // each host's loopback; then two a queue pair
  sim::Pool<Packet> packets_{};
  sim::Ring<FlowStart> starts_{};
};

}  // namespace loco::fabric
