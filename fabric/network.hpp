// The network between NICs, as NICs see it: packets go in, packets come out, events in between (docs/machine.md,
// "Fabric"). Two models stand behind it: PacketNetwork takes every packet from link to link; FlowNetwork hands whole
// messages over, whose flows share links. A NIC asks neither which of the two it is on: it asks how much it may hand
// over as one packet, when it may announce a message, and how a message has come.
//
// A network knows the headers of packets (for their sizes), but neither memory nor what a request means. It is a value:
// plain records, copied and compared (NetworkValue).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/congestion/feedback.hpp"
#include "fabric/lane.hpp"
#include "fabric/packet.hpp"
#include "fabric/share.hpp"
#include "sim/event_queue.hpp"
#include "sim/polymorphic.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// Event kinds of networks: give every event of [kEventFirst, kEventEnd) to handle(), kEventResumed apart.
inline constexpr std::uint16_t kEventFirst = 0x100;
inline constexpr std::uint16_t kEventLane = 0x100;     ///< the head of lane `where` arrives
inline constexpr std::uint16_t kEventDepart = 0x101;   ///< the next packet of lane `where` starts
inline constexpr std::uint16_t kEventPause = 0x102;    ///< a pause frame arrives over lane `where`
inline constexpr std::uint16_t kEventLink = 0x103;     ///< the next link goes down or up
inline constexpr std::uint16_t kEventReroute = 0x104;  ///< switches begin to use new routes
inline constexpr std::uint16_t kEventHeaders = 0x105;  ///< the oldest trimmed packet on lane `where` arrives
inline constexpr std::uint16_t kEventWatch = 0x106;    ///< a watchdog looks at the port of lane `where`
inline constexpr std::uint16_t kEventStorm = 0x107;    ///< pause storm `where` begins, or ends where `a` is 1
inline constexpr std::uint16_t kEventEnd = 0x108;
/// For the NIC of host `where`, which asked with await_resume(): its port is not paused any more.
inline constexpr std::uint16_t kEventResumed = 0x108;

enum class LossReason : std::uint8_t { buffer_full, link_error, link_down, no_route, watchdog };
inline constexpr std::array<std::string_view, 5> kLossReasonNames = {"buffer_full", "link_error", "link_down",
                                                                     "no_route", "watchdog"};

struct Lost {
  Packet packet;
  LossReason reason = LossReason::buffer_full;
  topology::LinkId link = kNone;  ///< where it was or should have gone; kNone: nowhere
  bool operator==(const Lost&) const = default;
};

/// A message that was handed over with its last packet: what came before that.
struct Train {
  std::uint64_t behind = 0;   ///< bytes on the wire behind its first packet; 0 where every packet is handed over
  sim::BitsPerSecond rate{};  ///< of the narrowest link on its way; 0: no limit
};

class PacketNetwork;
class FlowNetwork;

class Network {
 public:
  virtual ~Network() = default;

  [[nodiscard]] const Config& config() const { return config_; }

  /// Announces a queue pair, so that the lanes which the network gives to it exist.
  virtual void add_queue_pair(QpId qp) = 0;
  /// Puts the first link change into the queue. Call once, before the first event; needed only when there are any.
  virtual void start(sim::EventQueue& /*events*/) {}

  // --- packets -------------------------------------------------------------------------------------------------------
  /// The most payload that a NIC may hand over as one packet, to another host or to its own.
  [[nodiscard]] std::uint64_t segment_max(bool loopback) const {
    return (loopback ? config_.packets.mtu : segment_max_).count;
  }
  /// Puts a packet on its source's port now, or once the port is free; `latency` is what it needs from the NIC to
  /// the port. Returns when the NIC may give the port its next packet without making it wait: the source should hold
  /// back its next packet of the same queue pair until then, so that queue pairs share a port in turns.
  virtual sim::SimTime send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet) = 0;
  /// Runs one of the network's events; the packet when one is delivered.
  virtual std::optional<Packet> handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) = 0;
  /// The oldest packet that was lost and not yet asked for. Ask after every send() and handle() if packets can be
  /// lost: whoever owns payload bytes must know.
  virtual std::optional<Lost> take_lost() { return std::nullopt; }

  /// What the graph calls a host is a port of the machine. Is its link paused, or one of them? Where packets may take
  /// any of them (Config::planes): are all that lead to `to`? With classes: for this one? Then its NIC should not send
  /// there, but ask to be told by a kEventResumed.
  [[nodiscard]] virtual bool paused(PortId /*host*/, PortId /*to*/, std::uint32_t /*traffic_class*/) const {
    return false;
  }
  virtual void await_resume(PortId /*host*/) {}
  /// Tells whatever sends to this host to stop (or to go on): its NIC has no room for more. See host_headroom().
  virtual void pause_host(sim::EventQueue& /*events*/, sim::SimTime /*now*/, PortId /*host*/, bool /*stop*/) {}
  /// Bytes that may still come to a host after it has decided to pause its links.
  [[nodiscard]] virtual std::uint64_t host_headroom(PortId /*host*/) const { return 0; }
  /// What a host's fastest port sends at, or all of them where packets may take any; without links of its own, the rate
  /// of links in general.
  [[nodiscard]] virtual sim::BitsPerSecond port_rate(PortId /*host*/) const { return config_.link_rate; }

  /// What a packet of so many bytes takes alone, from its first bit on the first link until it is handed over, and how
  /// many switches it passes. Nothing where there are no links.
  struct Way {
    sim::Duration time{};
    std::uint32_t switches = 0;
  };
  [[nodiscard]] virtual Way way(PortId /*from*/, PortId /*to*/, std::uint32_t /*bytes*/) const { return {}; }

  // --- in-band telemetry (congestion/feedback.hpp), where congestion control asks for it ---------------------------
  /// Room for what switches write into a packet: give the name to the packet. Whoever takes the packet takes it back;
  /// that of a lost packet is gone.
  [[nodiscard]] virtual std::uint32_t keep_telemetry(const Telemetry& /*telemetry*/) { return 0; }
  virtual Telemetry take_telemetry(std::uint32_t /*name*/) { return {}; }

  // --- messages of several packets, where they are handed over whole -------------------------------------------------
  [[nodiscard]] bool whole_messages() const { return segment_max_.count > config_.packets.mtu.count; }
  /// A message may be announced when so many bytes of it are in the NIC.
  [[nodiscard]] std::uint64_t announce_after() const {
    return whole_messages() ? config_.packets.mtu.count : std::numeric_limits<std::uint64_t>::max();
  }
  /// The message's first packet could leave now: it begins to use its links; the message itself is sent later, when all
  /// of it is there. What is sent next on the lane is taken for it. Does nothing when that is announced already.
  virtual void announce(sim::SimTime /*now*/, sim::Duration /*latency*/, const Packet& /*packet*/) {}
  /// What is announced on the lane of the queue pair's requests, or of its responses, will not be sent. Does nothing
  /// when nothing is announced.
  virtual void withdraw(QpId /*qp*/, bool /*response*/) {}
  /// How a message that has just been delivered came.
  [[nodiscard]] virtual Train train(const Packet& /*packet*/) const { return {}; }

  // --- parts of a graph (share.hpp) ----------------------------------------------------------------------------------
  /// Hands over what has begun to cross to other parts.
  virtual void take_crossings(std::vector<Crossing>& /*out*/) {}
  /// Something comes from another part. Precondition: nothing that is as late as its arrival has been handled.
  virtual void cross(sim::EventQueue& /*events*/, const Crossing& /*crossing*/) {}
  /// True once after an event that was no step of a packet's way: it saw only that a packet leaves for another part, or
  /// does not arrive yet. Where Share::ranked.
  virtual bool take_no_step() { return false; }
  /// When all is over: the figures of links and packets are those of both.
  virtual void absorb(const Network& /*part*/) {}

  // --- looking -------------------------------------------------------------------------------------------------------
  /// Checks what holds between two events; throws sim::BrokenInvariant. Takes time with all that is inside.
  virtual void check(sim::SimTime /*now*/) const {}
  [[nodiscard]] virtual std::size_t packets_inside() const = 0;
  /// Packets on their way, for state hashing and progress checks: lane by lane, oldest first.
  [[nodiscard]] virtual std::size_t lanes() const = 0;
  [[nodiscard]] virtual std::size_t lane_size(std::size_t lane) const = 0;
  [[nodiscard]] virtual const Packet& lane_packet(std::size_t lane, std::size_t i) const = 0;

  // Have the simulating machine's cache fetch a lane, its head, and what the arrival of that will touch: one after the
  // other, since each is found through the one before. They change nothing.
  virtual void prefetch_lane(std::uint32_t /*lane*/) const {}
  virtual void prefetch_entry(std::uint32_t /*lane*/) const {}
  virtual void prefetch_packet(std::uint32_t /*lane*/) const {}
  /// The packet at the head of the lane, if its arrival delivers it.
  [[nodiscard]] virtual const Packet* arriving(std::uint32_t /*lane*/) const { return nullptr; }

  /// The network of links, for figures of links; nullptr where there are none.
  [[nodiscard]] virtual const PacketNetwork* packet_network() const { return nullptr; }
  /// The network of flows, for whoever shares links among them; nullptr where there are none.
  virtual FlowNetwork* flow_network() { return nullptr; }

  // Of sim::Polymorphic.
  [[nodiscard]] virtual std::unique_ptr<Network> clone() const = 0;
  virtual void assign(const Network& other) = 0;
  [[nodiscard]] virtual bool equals(const Network& other) const = 0;

 protected:
  Network(const Config& config, sim::Bytes segment_max) : config_(config), segment_max_(segment_max) {}
  Network(const Network&) = default;
  Network(Network&&) = default;
  Network& operator=(const Network&) = default;
  Network& operator=(Network&&) = default;
  friend bool operator==(const Network&, const Network&) = default;

  Config config_;

 private:
  sim::Bytes segment_max_;
};

/// A network of the model that the configuration says. Throws std::invalid_argument (topology::TopologyError for a bad
/// shape).
using NetworkValue = sim::Polymorphic<Network>;
[[nodiscard]] NetworkValue make_network(const Config& config);

}  // namespace loco::fabric
