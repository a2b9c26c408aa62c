// A network of hosts, links and switches in which every packet passes link after link (docs/fabric.md).
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
// picoseconds. The graph and its routes are shared by all copies. Random choices (spray, ties of adaptive routing,
// loss, marks) are drawn from one stream, named `fabric`; in parts (share.hpp) each vertex has its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/classes.hpp"
#include "fabric/lane.hpp"
#include "fabric/network.hpp"
#include "fabric/packet.hpp"
#include "fabric/wiring.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

class PacketNetwork final : public Network {
 public:
  /// Throws std::invalid_argument (topology::TopologyError for a bad shape).
  explicit PacketNetwork(const Config& config);

  void add_queue_pair(QpId qp) override;
  void start(sim::EventQueue& events) override;
  sim::SimTime send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet) override;
  std::optional<Packet> handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) override;
  std::optional<Lost> take_lost() override;
  [[nodiscard]] bool paused(PortId host, PortId to, std::uint32_t traffic_class) const override;
  void await_resume(PortId host) override;
  void pause_host(sim::EventQueue& events, sim::SimTime now, PortId host, bool stop) override;
  [[nodiscard]] std::uint64_t host_headroom(PortId host) const override;
  [[nodiscard]] sim::BitsPerSecond port_rate(PortId host) const override;
  // telemetry.cpp
  [[nodiscard]] Way way(PortId from, PortId to, std::uint32_t bytes) const override;
  [[nodiscard]] std::uint32_t keep_telemetry(const Telemetry& telemetry) override;
  Telemetry take_telemetry(std::uint32_t name) override;

  // share.cpp
  void take_crossings(std::vector<Crossing>& out) override;
  void cross(sim::EventQueue& events, const Crossing& crossing) override;
  void absorb(const Network& part) override;
  bool take_no_step() override { return std::exchange(no_step_, false); }

  void check(sim::SimTime now) const override;  // check.cpp
  [[nodiscard]] std::uint64_t packets_sent() const { return packets_sent_; }
  [[nodiscard]] std::uint64_t packets_delivered() const { return packets_delivered_; }
  [[nodiscard]] std::uint64_t bytes_delivered() const { return bytes_delivered_; }
  [[nodiscard]] std::uint64_t packets_lost(LossReason reason) const {
    return packets_lost_[static_cast<std::size_t>(reason)];
  }
  /// Packets that switches cut to their headers; these are delivered or lost as others are.
  [[nodiscard]] std::uint64_t packets_trimmed() const { return packets_trimmed_; }
  /// Times that a watchdog has given a queue up.
  [[nodiscard]] std::uint64_t watchdog_actions() const { return watchdog_actions_; }
  [[nodiscard]] std::size_t packets_inside() const override { return packets_.in_use(); }

  /// Packets that have room for telemetry, or carry it.
  [[nodiscard]] std::size_t telemetry_inside() const { return telemetry_.in_use(); }

  [[nodiscard]] std::size_t lanes() const override { return lanes_.size(); }
  [[nodiscard]] std::size_t lane_size(std::size_t lane) const override { return lanes_[lane].entries.size(); }
  [[nodiscard]] const Packet& lane_packet(std::size_t lane, std::size_t i) const override {
    return packets_[lanes_[lane].entries[i].packet];
  }
  // prefetch.cpp
  void prefetch_lane(std::uint32_t lane) const override;
  void prefetch_entry(std::uint32_t lane) const override;
  void prefetch_packet(std::uint32_t lane) const override;
  [[nodiscard]] const Packet* arriving(std::uint32_t lane) const override;

  [[nodiscard]] const PacketNetwork* packet_network() const override { return this; }
  [[nodiscard]] std::unique_ptr<Network> clone() const override { return std::make_unique<PacketNetwork>(*this); }
  void assign(const Network& other) override { *this = dynamic_cast<const PacketNetwork&>(other); }
  [[nodiscard]] bool equals(const Network& other) const override {
    const auto* o = dynamic_cast<const PacketNetwork*>(&other);
    return o != nullptr && *this == *o;
  }

  // --- links, by number of the graph; none with Topology::ideal -----------------------------------------------------
  [[nodiscard]] const topology::Topology& graph() const { return wiring_->graph; }
  [[nodiscard]] std::size_t links() const { return wiring_ ? wiring_->links.size() : 0; }
  [[nodiscard]] const LinkCounters& counters(topology::LinkId link) const { return lane_of(link).counters; }
  /// Bytes that wait for the link's port at `now`, which may not lie before the last event.
  [[nodiscard]] std::uint64_t queued(topology::LinkId link, sim::SimTime now) const { return look(link, now).queued; }
  struct Look {
    std::uint64_t queued = 0;  ///< bytes that wait for the port
    sim::Duration busy{};      ///< for so long the port has been sending, up to this instant
  };
  /// A link at `now`, which may not lie before the last event.
  [[nodiscard]] Look look(topology::LinkId link, sim::SimTime now) const;
  /// Links that are paused now. When nothing else is pending, they wait for each other: a deadlock.
  [[nodiscard]] std::vector<topology::LinkId> paused_links() const;
  /// What keeps a paused link paused: the paused links, out of the switch at its far end, in whose queues packets stand
  /// that came over it. Empty when it is not paused, or when a host has paused it.
  [[nodiscard]] std::vector<topology::LinkId> waits_for(topology::LinkId link) const;

  bool operator==(const PacketNetwork&) const = default;

 private:
  /// A switch's buffer. `used` may count packets that have left since the last advance() of their port.
  struct Buffer {
    std::uint64_t used = 0;
    std::uint32_t pausing = 0;  // ingress links that it has paused
    bool operator==(const Buffer&) const = default;
  };

  [[nodiscard]] Lane& lane_of(topology::LinkId link) { return lanes_[config_.nodes + link]; }
  [[nodiscard]] const Lane& lane_of(topology::LinkId link) const { return lanes_[config_.nodes + link]; }
  [[nodiscard]] const LinkInfo& info(topology::LinkId link) const { return wiring_->links[link]; }
  [[nodiscard]] bool is_link(std::uint32_t lane) const { return lane >= config_.nodes && wiring_; }
  /// Does what arrives on this lane leave the network?
  [[nodiscard]] bool delivers(std::uint32_t lane) const {
    return !is_link(lane) || !info(lane - config_.nodes).to_switch;
  }

  /// With Topology::ideal: the lane of a queue pair's requests, or of its responses.
  [[nodiscard]] std::uint32_t own_lane(const Packet& packet) const {
    return config_.nodes + 2 * packet.source_qp + (is_response(packet.opcode) ? 1 : 0);
  }
  // check.cpp
  void check_lane(std::size_t lane, sim::SimTime now) const;
  void check_classes(topology::LinkId link, sim::SimTime now) const;
  void check_buffer(topology::VertexId at, sim::SimTime now) const;
  // packet_network.cpp: packets from port to port
  void pass(sim::EventQueue& events, std::uint32_t lane, sim::SimTime arrival, const Packet& packet);
  std::optional<Packet> arrive(sim::EventQueue& events, sim::SimTime now, std::uint32_t lane);
  /// Through a switch.
  struct Hop {
    topology::LinkId in = kNone;
    topology::LinkId out = kNone;
  };
  void forward(sim::EventQueue& events, sim::SimTime now, sim::SimTime came, Hop hop, Entry entry);
  void change(sim::EventQueue& events, sim::SimTime now, const sim::Event& event);
  [[nodiscard]] sim::Duration taken_after(topology::LinkId link, std::uint64_t number, std::uint32_t bytes) const;
  void enqueue(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry);
  void advance(sim::EventQueue& events, topology::LinkId link, sim::SimTime now) {
    const Lane& lane = lane_of(link);
    if (lane.started != lane.entries.size() && lane.due <= now) advance_queue(events, link, now);
  }
  static void join_queue(Lane& lane, sim::SimTime now);
  void advance_queue(sim::EventQueue& events, topology::LinkId link, sim::SimTime now);
  void arm(sim::EventQueue& events, sim::SimTime now, std::uint32_t lane);
  void arm_departure(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  // share.cpp
  void divide();
  void leave(std::uint32_t lane);
  Crossing& cross_over(topology::LinkId link, const Entry& entry);
  [[nodiscard]] bool failed_on_its_way(const Crossing& crossing) const;
  void push_headers(sim::EventQueue& events, sim::SimTime at, topology::LinkId link);
  static sim::EventHandle push_arrival(sim::EventQueue& events, sim::SimTime at, std::uint32_t lane);
  [[nodiscard]] sim::EventHandle push_pause(sim::EventQueue& events, sim::SimTime at, topology::LinkId carrier) {
    if (ranked_) [[unlikely]]
      return push_ranked_pause(events, at, config_.nodes + carrier);
    return events.push({.at = at, .what = kEventPause, .where = config_.nodes + carrier});
  }
  static sim::EventHandle push_ranked_pause(sim::EventQueue& events, sim::SimTime at, std::uint32_t lane);
  /// Of what a device chooses.
  [[nodiscard]] sim::Stream& stream_of(topology::VertexId at) { return ranked_ ? streams_[at] : stream_; }

  Packet take(std::uint32_t packet);
  void lose(const Entry& entry, LossReason reason, topology::LinkId link);
  // routing.cpp
  /// Does a switch's choice depend on nothing but the packet?
  [[nodiscard]] bool has_fixed_ports() const {
    return config_.options.routing == Routing::deterministic || config_.options.routing == Routing::ecmp;
  }
  [[nodiscard]] topology::LinkId choose(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                        const Entry& entry);
  [[nodiscard]] topology::LinkId least_loaded(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                              std::span<const topology::PortId> ports);
  /// May a queue pair's packets take any port of its host?
  [[nodiscard]] bool has_planes() const {
    return config_.planes && (!has_fixed_ports() || (config_.sprays && config_.options.routing == Routing::ecmp));
  }
  [[nodiscard]] std::span<const topology::PortId> ports_to(NodeId host, NodeId to) const;
  [[nodiscard]] topology::LinkId first_free(NodeId host, std::span<const topology::PortId> ports) const;
  // buffers.cpp
  [[nodiscard]] bool admit(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry);
  [[nodiscard]] bool fits(topology::VertexId at, topology::LinkId out, std::uint32_t bytes) const;
  void mark(topology::LinkId out, const Entry& entry);
  void release(sim::EventQueue& events, sim::SimTime now, const Entry& entry);
  void hold(sim::EventQueue& events, sim::SimTime now, const Entry& entry);
  void advance_all(sim::EventQueue& events, sim::SimTime now, topology::VertexId at);
  [[nodiscard]] std::uint64_t pause_threshold(topology::VertexId at) const;
  [[nodiscard]] std::uint64_t pause_threshold(topology::VertexId at, const ClassBuffers& buffers) const;
  void send_pause(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, bool stop,
                  std::uint8_t classes = 1);
  void pause_links(sim::EventQueue& events, sim::SimTime now, NodeId host, bool stop, std::uint8_t classes);
  void pause_arrives(sim::EventQueue& events, sim::SimTime now, topology::LinkId carrier);
  void resume(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  // telemetry.cpp
  [[nodiscard]] static std::uint32_t telemetry_name(const Packet& packet);
  void drop_telemetry(const Packet& packet);
  [[nodiscard]] std::uint32_t telemetry_grows(const Entry& entry) const;
  void report(const Lane& lane, const LinkInfo& link, sim::SimTime start, const Entry& entry);
  void mark_above(topology::LinkId out, const Entry& entry, std::uint64_t waiting, std::uint64_t low,
                  std::uint64_t high, std::uint32_t most);
  // classes.cpp
  [[nodiscard]] std::uint32_t class_of(const Entry& entry) const;
  void enqueue_class(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry);
  static void join_class(ClassQueue& queue, sim::SimTime now);
  void arm_class_departure(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  [[nodiscard]] std::uint32_t next_class(ClassPort& port, sim::SimTime now) const;
  void depart(sim::EventQueue& events, sim::SimTime now, topology::LinkId id);
  void forward_class(sim::EventQueue& events, sim::SimTime now, Hop hop, Entry entry);
  [[nodiscard]] bool class_fits(topology::VertexId at, topology::LinkId out, std::uint32_t c,
                                std::uint32_t bytes) const;
  void hold_class(sim::EventQueue& events, sim::SimTime now, const Entry& entry, std::uint32_t c);
  void release_class(sim::EventQueue& events, sim::SimTime now, const Entry& entry, std::uint32_t c);
  void pause_classes(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, Pause pause);
  [[nodiscard]] std::uint64_t waiting_classes(topology::LinkId link, sim::SimTime now) const;
  [[nodiscard]] bool class_is_full(topology::LinkId link, std::uint32_t c) const;
  void lose_classes(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  // watchdog.cpp
  [[nodiscard]] bool has_watchdog(topology::LinkId link) const {
    return config_.options.watchdog.enabled && info(link).from >= config_.nodes;
  }
  void watch(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  void look_at(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  void give_up(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, std::uint32_t c);
  [[nodiscard]] bool drops(topology::LinkId link, std::uint32_t c) const;
  /// Classes of a port that may not send now.
  [[nodiscard]] std::uint8_t held_back(const ClassPort& port) const {
    const bool forwards = config_.options.watchdog.action == WatchdogAction::forward;
    return forwards ? static_cast<std::uint8_t>(port.paused & ~port.given_up) : port.paused;
  }
  void lose_queue(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, std::uint32_t c, LossReason reason);
  void storm(sim::EventQueue& events, sim::SimTime now, const PauseStorm& storm, bool stop);
  // trimming.cpp
  [[nodiscard]] bool trims(const Entry& entry) const;
  void trim(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, Entry entry);
  void send_headers(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, Entry entry);
  void queue_headers(sim::EventQueue& events, topology::LinkId link, const Entry& entry);
  /// Packets that a link's lane has carried, where headers have counted among them, too.
  [[nodiscard]] std::uint64_t lane_number(topology::LinkId link) const {
    const std::uint64_t packets = lane_of(link).counters.packets;
    return ranked_ && !headers_sent_.empty() ? packets - headers_sent_[link] : packets;
  }
  std::optional<Packet> headers_arrive(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  void lose_headers(topology::LinkId link);
  // failures.cpp
  [[nodiscard]] bool links_will_change() const { return next_change_ != wiring_->changes.size(); }
  [[nodiscard]] bool cut_off(sim::SimTime now, topology::LinkId link, std::uint32_t bytes) const;
  void change_link(sim::EventQueue& events, sim::SimTime now);
  void go_down(sim::EventQueue& events, sim::SimTime now, topology::LinkId link);
  void reroute();

  Shared<Wiring> wiring_{};
  Shared<topology::Routes> routes_{};
  bool classed_ = false;             // there are traffic classes
  bool writes_ = false;              // switches write telemetry into packets
  bool signals_ = false;             // or mark them
  bool overflows_ = false;           // Config::buffers_overflow()
  bool headers_have_class_ = false;  // of trimmed packets
  bool rerouted_ = false;            // some destinations may be out of reach
  bool ranked_ = false;              // Share::ranked
  bool no_step_ = false;             // where ranked: see take_no_step()
  std::vector<Lane> lanes_{};        // each host's loopback, then links; ideal: then two a queue pair
  std::vector<Buffer> buffers_{};    // per vertex
  sim::Pool<Packet> packets_{};
  sim::Stream stream_;
  std::vector<sim::Stream> streams_{};  // by vertex, where ranked
  std::vector<Crossing> crossings_{};   // that nobody has taken yet
  std::size_t next_change_ = 0;
  sim::Ring<Lost> lost_{};
  sim::Pool<Telemetry> telemetry_{};           // of packets on their way
  std::vector<sim::Ring<Entry>> headers_{};    // by link, of trimmed packets; empty until there is one
  std::vector<std::uint64_t> headers_sent_{};  // likewise, where ranked
  std::uint64_t packets_trimmed_ = 0;
  std::vector<ClassPort> class_ports_{};  // by link; empty: there is one class
  std::array<TrafficClass, kClasses> class_options_{};
  std::uint64_t watchdog_actions_ = 0;
  std::vector<std::uint8_t> storms_{};  // by host: classes that it pauses whatever its state; empty until there are any
  std::vector<bool> pausing_hosts_{};   // likewise: whose NICs have no room
  std::uint64_t packets_came_ = 0;      // from other parts
  std::uint64_t packets_left_ = 0;      // for them
  std::uint64_t packets_sent_ = 0;
  std::uint64_t packets_delivered_ = 0;
  std::uint64_t bytes_delivered_ = 0;
  std::array<std::uint64_t, kLossReasonNames.size()> packets_lost_{};
};

}  // namespace loco::fabric
