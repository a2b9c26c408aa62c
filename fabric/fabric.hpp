// The network between NICs: hosts, links, switches; carries packets and knows nothing of what they mean (machine
// page, "Fabric").
//
// Every guaranteed order is a FIFO lane: a link direction with the output queue of the port that feeds it (law 1).
// Only the packet at the head of a lane has a pending event, so packets on one path stay in order under any schedule,
// and packets on different paths are ordered by nothing.
//
// A packet costs one event for each link: its arrival. Ports have no events of their own: what has left a queue by
// now is worked out when somebody looks (docs/fabric.md, "One event a hop"). Only in a switch that pauses one of its
// links do departures become events, because the moment of a resume depends on them.
//
// Delays: serialisation at the link rate, one packet at a time; propagation; the latency of each switch. Times in
// picoseconds. The fabric is a value; the graph and its routes are shared by all copies. Random choices (spray, ties of
// adaptive routing, loss, marks) are drawn from one stream, named `fabric`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fabric/lane.hpp"
#include "fabric/network.hpp"
#include "fabric/options.hpp"
#include "fabric/packet.hpp"
#include "fabric/route_time.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// Event kinds of the fabric: give every event of [kEventFirst, kEventEnd) to handle(), kEventResumed apart.
inline constexpr std::uint16_t kEventFirst = 0x100;
inline constexpr std::uint16_t kEventLane = 0x100;     ///< the head of lane `where` arrives
inline constexpr std::uint16_t kEventDepart = 0x101;   ///< the next packet of lane `where` starts
inline constexpr std::uint16_t kEventPause = 0x102;    ///< a pause frame arrives over lane `where`
inline constexpr std::uint16_t kEventLink = 0x103;     ///< the next link goes down or up
inline constexpr std::uint16_t kEventReroute = 0x104;  ///< switches begin to use new routes
inline constexpr std::uint16_t kEventEnd = 0x105;
/// For the NIC of host `where`, which asked with await_resume(): its port is not paused any more.
inline constexpr std::uint16_t kEventResumed = 0x108;

enum class Topology : std::uint8_t {
  ideal,         ///< no network: each queue pair and direction is a lane of its own, without sizes or sharing
  back_to_back,  ///< two hosts and a cable
  star,          ///< hosts around one switch
  shaped,        ///< what Config::shape says
};

struct Config {
  Topology topology = Topology::star;
  std::uint32_t nodes = 2;
  sim::BitsPerSecond link_rate{};    ///< zero: serialisation takes no time
  sim::Duration link_delay{};        ///< propagation over one link
  sim::Duration switch_latency{};    ///< first byte in to first byte out
  sim::Duration loopback_latency{};  ///< a packet from a NIC to itself, all its way: it never reaches port or link
  sim::Duration delivery_latency{};  ///< the last byte at the destination until handle() hands the packet over
  topology::Parameters shape{};      ///< for Topology::shaped; its hosts are the nodes
  Options options{};
  sim::Bytes packet_max{4'224};  ///< largest packet on the wire: what PFC's headroom is worked out with
  std::uint64_t seed = 1;        ///< root of the random stream
  bool eager = false;            ///< every departure is an event: slower, the same results; to check that against
  std::vector<LinkChange> changes{};
  std::vector<LinkLoss> losses{};
  FlowOptions flow{};

  bool operator==(const Config&) const = default;
  /// Empty when consistent, else what is wrong. The constructor finds what depends on the graph.
  [[nodiscard]] std::string_view validate() const;
  /// Can a packet find no room in a switch? With PFC only where the headroom is not the one that is worked out, or
  /// where links fail, whose ends forget their pauses.
  [[nodiscard]] bool buffers_overflow() const;
};

enum class LossReason : std::uint8_t { buffer_full, link_error, link_down, no_route };
inline constexpr std::array<std::string_view, 4> kLossReasonNames = {"buffer_full", "link_error", "link_down",
                                                                     "no_route"};

struct Lost {
  Packet packet;
  LossReason reason = LossReason::buffer_full;
  topology::LinkId link = kNone;  ///< where it was or should have gone; kNone: nowhere
  bool operator==(const Lost&) const = default;
};

/// Flow model: a message whose flow is to start; or, `withdrawn`, the lane whose last flow goes no further.
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

/// Flow model: what the route of a flow makes of it, when that has left its source.
struct FlowEnd {
  sim::Duration latency{};    ///< its last byte is handed over so much later,
  sim::Duration last{};       ///< and no earlier than its last packet alone would be, from when that was at the port
  sim::BitsPerSecond rate{};  ///< of the narrowest link; 0: no limit
  bool operator==(const FlowEnd&) const = default;
};

class Fabric {
 public:
  /// Throws std::invalid_argument (topology::TopologyError for a bad shape).
  explicit Fabric(const Config& config);

  /// Announces a queue pair, so that the lanes which the topology gives to it exist.
  void add_queue_pair(QpId qp);

  /// Puts the first link change into the queue. Call once, before the first event; needed only when there are any.
  void start(sim::EventQueue& events);

  /// Puts a packet on its source's port now, or once the port is free; `latency` is what it needs from the NIC to
  /// the port. Returns when the NIC may give the port its next packet without making it wait: the source should hold
  /// back its next packet of the same queue pair until then, so that queue pairs share a port in turns.
  sim::SimTime send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet);

  // --- the flow model; only with Config::flow ------------------------------------------------------------------------
  // A packet is a message. Each queue pair and direction is a lane of which one flow at a time is under way; whoever
  // owns the network takes the flows that are to start and tells when they have left their source.
  /// The message's first packet could leave now: its flow starts, the message itself is sent later, when all of it is
  /// there. What is sent next on the lane is taken for it. Does nothing when that is announced already.
  void announce(sim::SimTime now, sim::Duration latency, const Packet& packet);
  /// What is announced on the lane of the queue pair's requests, or of its responses, will not be sent: its flow stops
  /// here. Does nothing when nothing is announced.
  void withdraw(QpId qp, bool response);
  std::optional<FlowStart> take_start();
  /// The lane's flow has left its source.
  void flow_ended(sim::EventQueue& events, std::uint32_t lane, sim::SimTime now, const FlowEnd& end);
  /// The rate of the narrowest link on the way of a message that has come; 0: no limit.
  [[nodiscard]] sim::BitsPerSecond flow_rate(const Packet& packet) const;

  /// Is the port of this host paused? Then its NIC should not send, but ask to be told by a kEventResumed.
  [[nodiscard]] bool paused(NodeId host) const;
  void await_resume(NodeId host);
  /// Tells whatever sends to this host to stop (or to go on): its NIC has no room for more. See host_headroom().
  void pause_host(sim::EventQueue& events, sim::SimTime now, NodeId host, bool stop);
  /// Bytes that may still come to a host after it has decided to pause its links.
  [[nodiscard]] std::uint64_t host_headroom(NodeId host) const;

  /// Runs one of the fabric's events; the packet when one is delivered.
  std::optional<Packet> handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event);

  /// The oldest packet that was lost and not yet asked for. Ask after every send() and handle() if packets can be
  /// lost: whoever owns payload bytes must know.
  std::optional<Lost> take_lost();

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] std::uint64_t packets_delivered() const { return packets_delivered_; }
  [[nodiscard]] std::uint64_t bytes_delivered() const { return bytes_delivered_; }
  [[nodiscard]] std::uint64_t packets_lost(LossReason reason) const {
    return packets_lost_[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] std::size_t packets_inside() const { return packets_.in_use(); }

  // Have the simulating machine's cache fetch a lane, its head, and what the arrival of that will touch: one after the
  // other, since each is found through the one before. They change nothing. (prefetch.cpp)
  void prefetch_lane(std::uint32_t lane) const;
  void prefetch_entry(std::uint32_t lane) const;
  void prefetch_packet(std::uint32_t lane) const;
  /// The packet at the head of the lane, if its arrival delivers it.
  [[nodiscard]] const Packet* arriving(std::uint32_t lane) const;

  /// Packets on their way, for state hashing and progress checks: lane by lane, oldest first.
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] std::size_t lane_size(std::size_t lane) const { return lanes_[lane].entries.size(); }
  [[nodiscard]] const Packet& lane_packet(std::size_t lane, std::size_t i) const {
    return packets_[lanes_[lane].entries[i].packet];
  }

  // --- links, by number of the graph; none with Topology::ideal -----------------------------------------------------
  [[nodiscard]] const topology::Topology& graph() const { return network_->graph; }
  [[nodiscard]] std::size_t links() const { return network_ ? network_->links.size() : 0; }
  [[nodiscard]] const LinkCounters& counters(topology::LinkId link) const { return lane_of(link).counters; }
  /// Bytes that wait for the link's port at `now`, which may not lie before the last event.
  [[nodiscard]] std::uint64_t queued(topology::LinkId link, sim::SimTime now) const { return look(link, now).queued; }
  struct Look {
    std::uint64_t queued = 0;  ///< bytes that wait for the port
    sim::Duration busy{};      ///< for so long the port has been sending, up to this instant
  };
  /// A link at `now`, which may not lie before the last event.
  [[nodiscard]] Look look(topology::LinkId link, sim::SimTime now) const;
  /// What a host's fastest port sends at; without links, and with the flow model, the rate of links in general.
  [[nodiscard]] sim::BitsPerSecond port_rate(NodeId host) const;
  /// Links that are paused now. When nothing else is pending, they wait for each other: a deadlock.
  [[nodiscard]] std::vector<topology::LinkId> paused_links() const;

  bool operator==(const Fabric&) const = default;

 private:
  /// A switch's buffer. `used` may count packets that have left since the last advance() of their port.
  struct Buffer {
    std::uint64_t used = 0;
    std::uint32_t pausing = 0;  // ingress links that it has paused
    bool operator==(const Buffer&) const = default;
  };

  [[nodiscard]] Lane& lane_of(topology::LinkId link) { return lanes_[config_.nodes + link]; }
  [[nodiscard]] const Lane& lane_of(topology::LinkId link) const { return lanes_[config_.nodes + link]; }
  [[nodiscard]] const LinkInfo& info(topology::LinkId link) const { return network_->links[link]; }

  // flows.cpp
  struct FlowLane {
    sim::Ring<Entry> waiting{};  // the first one's flow is under way; `at`: its last packet is at the port
    std::uint32_t open = kNone;  // the packet of the message that is announced but not sent
    FlowEnd end{};               // of the last flow that ended
    bool operator==(const FlowLane&) const = default;
  };
  void send_flow(sim::EventQueue& events, sim::SimTime at, const Packet& packet);
  void append_flow(sim::SimTime at, std::uint32_t lane, std::uint32_t slot);
  void start_flow(std::uint32_t lane, sim::SimTime at);
  [[nodiscard]] std::uint32_t own_lane(QpId qp, bool response) const {
    return config_.nodes + 2 * qp + (response ? 1 : 0);
  }
  [[nodiscard]] std::uint32_t own_lane(const Packet& packet) const {
    return own_lane(packet.source_qp, is_response(packet.opcode));
  }
  // fabric.cpp: packets from port to port
  void pass(sim::EventQueue& events, std::uint32_t lane, sim::SimTime arrival, const Packet& packet);
  std::optional<Packet> arrive(sim::EventQueue& events, sim::SimTime now, std::uint32_t lane);
  void forward(sim::EventQueue& events, sim::SimTime now, topology::LinkId in, Entry entry);
  void enqueue(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry);
  void advance(sim::EventQueue& events, topology::LinkId link, sim::SimTime now) {
    const Lane& lane = lane_of(link);
    if (lane.started != lane.entries.size()) advance_queue(events, link, now);
  }
  static void join_queue(Lane& lane, sim::SimTime now);
  void advance_queue(sim::EventQueue& events, topology::LinkId link, sim::SimTime now);
  void arm(sim::EventQueue& events, sim::SimTime now, std::uint32_t lane);
  void arm_departure(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  Packet take(std::uint32_t packet);
  void lose(const Entry& entry, LossReason reason, topology::LinkId link);
  // routing.cpp
  [[nodiscard]] topology::LinkId choose(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                        const Entry& entry);
  [[nodiscard]] topology::LinkId least_loaded(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                              std::span<const topology::PortId> ports);
  // buffers.cpp
  [[nodiscard]] bool admit(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry);
  [[nodiscard]] bool fits(topology::VertexId at, topology::LinkId out, std::uint32_t bytes) const;
  void mark(topology::LinkId out, const Entry& entry);
  void release(sim::EventQueue& events, sim::SimTime now, const Entry& entry);
  void hold(sim::EventQueue& events, sim::SimTime now, const Entry& entry);
  void advance_all(sim::EventQueue& events, sim::SimTime now, topology::VertexId at);
  [[nodiscard]] std::uint64_t pause_threshold(topology::VertexId at) const;
  void send_pause(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, bool stop);
  void pause_arrives(sim::EventQueue& events, sim::SimTime now, topology::LinkId carrier);
  void resume(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  // failures.cpp
  [[nodiscard]] bool cut_off(sim::SimTime now, topology::LinkId link, std::uint32_t bytes) const;
  void change_link(sim::EventQueue& events, sim::SimTime now);
  void go_down(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  void reroute();

  Config config_;
  Shared<Network> network_{};
  Shared<topology::Routes> routes_{};
  bool rerouted_ = false;          // some destinations may be out of reach
  std::vector<Lane> lanes_{};      // each host's loopback, then links; ideal: then two a queue pair
  std::vector<Buffer> buffers_{};  // per vertex
  sim::Pool<Packet> packets_{};
  sim::Stream stream_;
  std::size_t next_change_ = 0;
  std::vector<FlowLane> flows_{};  // of each lane
  sim::Ring<FlowStart> starts_{};
  sim::Ring<Lost> lost_{};
  std::uint64_t packets_delivered_ = 0;
  std::uint64_t bytes_delivered_ = 0;
  std::array<std::uint64_t, kLossReasonNames.size()> packets_lost_{};
};

}  // namespace loco::fabric
