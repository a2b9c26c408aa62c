// The network between NICs: hosts, links, a switch; carries packets and knows nothing of what they mean.
//
// Every guaranteed order is a FIFO lane: a link direction, or a switch's output port (machine page, law 1). Only
// the packet at the head of a lane has a pending event, so packets on one path stay in order under any schedule,
// and packets on different paths are ordered by nothing. Delays: serialisation at the link rate (one packet at
// a time), propagation, and the latency of the switch. Times in picoseconds; the fabric is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/packet.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// Event kinds of the fabric; `Event::where` is the lane.
inline constexpr std::uint16_t kEventLane = 0x100;

enum class Topology : std::uint8_t {
  ideal,         ///< no network: each queue pair and direction is a lane of its own, without sizes or sharing
  back_to_back,  ///< two hosts and a cable
  star,          ///< hosts around one cut-through switch
};

struct Config {
  Topology topology = Topology::star;
  std::uint32_t nodes = 2;
  sim::BitsPerSecond link_rate{};    ///< zero: serialisation takes no time
  sim::Duration link_delay{};        ///< propagation over one link
  sim::Duration switch_latency{};    ///< first byte in to first byte out
  sim::Duration loopback_latency{};  ///< a packet from a NIC to itself: it never reaches the link
  sim::Duration delivery_latency{};  ///< the last byte at the destination until handle() hands the packet over

  bool operator==(const Config&) const = default;
  /// Empty when consistent, else what is wrong.
  [[nodiscard]] std::string_view validate() const;
};

class Fabric {
 public:
  explicit Fabric(const Config& config);

  /// Announces a queue pair, so that the lanes which the topology gives to it exist.
  void add_queue_pair(QpId qp);

  /// Puts a packet on its source's port now, or once the port is free; `latency` is what it needs from the port to
  /// the link. Returns when the port will have sent it: the source should hold back its next packet of the same
  /// queue pair until then, so that queue pairs share a port in turns.
  sim::SimTime send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet);

  /// Runs one of the fabric's events; the packet when one is delivered.
  std::optional<Packet> handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] std::uint64_t packets_delivered() const { return packets_delivered_; }
  [[nodiscard]] std::uint64_t bytes_delivered() const { return bytes_delivered_; }
  /// Packets on their way, for state hashing and progress checks: lane by lane, oldest first.
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] std::size_t lane_size(std::size_t lane) const { return lanes_[lane].flights.size(); }
  [[nodiscard]] const Packet& lane_packet(std::size_t lane, std::size_t i) const {
    return lanes_[lane].flights[i].packet;
  }

  bool operator==(const Fabric&) const = default;

 private:
  struct Flight {
    sim::SimTime ready{};  // when this lane is done with it, if nothing is in front of it
    Packet packet;
    bool operator==(const Flight&) const = default;
  };
  struct Lane {
    sim::Ring<Flight> flights{};
    sim::SimTime free{};  // when the transmitter behind this lane has sent everything given to it so far
    bool operator==(const Lane&) const = default;
  };
  [[nodiscard]] std::uint32_t first_lane(const Packet& packet) const;
  void enter(sim::EventQueue& events, std::uint32_t lane, sim::SimTime ready, const Packet& packet);
  /// Is this lane a switch input, i.e. not the last of its path?
  [[nodiscard]] bool leads_to_switch(std::uint32_t lane) const;

  Config config_;
  std::vector<Lane> lanes_{};
  std::uint64_t packets_delivered_ = 0;
  std::uint64_t bytes_delivered_ = 0;
};

}  // namespace loco::fabric
