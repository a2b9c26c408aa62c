// What a network is: shape, links, switches, and which model of it is run. A plain value.
//
// Times in picoseconds. Random choices (spray, ties of adaptive routing, loss, marks) are drawn from one stream, named
// `fabric`, of the seed; where the network is a part, from one for each vertex.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/options.hpp"
#include "fabric/topology/kinds.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

class LinkTap;

enum class Model : std::uint8_t {
  packet,  ///< every packet passes link after link (packet_network.hpp)
  flow,    ///< messages share links max-min fairly (flow_network.hpp)
};

enum class Topology : std::uint8_t {
  ideal,         ///< no network: each queue pair and direction is a lane of its own, without sizes or sharing
  back_to_back,  ///< two hosts and a cable
  star,          ///< hosts around one switch
  shaped,        ///< what Config::shape says
};

/// What happens to a traffic class where buffers fill: as in Options, by class.
struct ClassBuffers {
  FlowControl flow_control = FlowControl::unlimited;
  std::uint32_t alpha = 125;  ///< thousandths
  sim::Bytes xoff{0};
  sim::Bytes reserved{8'400};
  sim::Bytes xon_gap{8'400};
  sim::Bytes headroom{0};

  bool operator==(const ClassBuffers&) const = default;
};

/// A traffic class (docs/fabric.md, "Classes").
struct TrafficClass {
  std::uint32_t id = 0;
  bool strict = false;                    ///< before all with weights, and strict ones of lower numbers
  std::uint32_t weight = 1;               ///< its share among those that are not strict
  std::optional<ClassBuffers> buffers{};  ///< none: as the options say
  bool ecn = false;
  sim::Bytes ecn_kmin{5'000};
  sim::Bytes ecn_kmax{200'000};
  std::uint32_t ecn_pmax = 10;  ///< thousandths
  bool operator==(const TrafficClass&) const = default;
};

inline constexpr std::uint32_t kClasses = 8;

/// A host whose NIC says from `from` to `until` that it takes nothing of these classes, whatever its state.
struct PauseStorm {
  NodeId host = 0;
  sim::SimTime from{};
  sim::SimTime until = sim::SimTime::max();
  std::uint8_t classes = 0xff;  ///< a bit a class
  bool operator==(const PauseStorm&) const = default;
};

/// What a host of the network has of its own, where they are not all alike. The times are as in Config.
struct EndPoint {
  std::string name{};  ///< `h3.1`: NIC 1 of the fourth machine; empty: by its number
  sim::Duration loopback_latency{};
  sim::Duration delivery_latency{};
  sim::Duration delivery_jitter{};
  sim::BitsPerSecond
      rate{};           ///< of its cables that have no rate of their own; a cable of two hosts has the slower one's
  sim::Duration gap{};  ///< as PacketFormat::gap

  bool operator==(const EndPoint&) const = default;
};

/// Which of its graph's vertices a network simulates (share.hpp).
struct Share {
  std::vector<std::uint8_t> part_of{};  ///< by vertex; empty: one network simulates them all
  std::uint8_t part = 0;                ///< its own
  bool ranked = false;                  ///< events are ordered as in parts, though it may be all of them

  [[nodiscard]] bool has(std::uint32_t vertex) const { return part_of.empty() || part_of[vertex] == part; }
  bool operator==(const Share&) const = default;
};

struct Config {
  Topology topology = Topology::star;
  std::uint32_t nodes = 2;
  sim::BitsPerSecond link_rate{};      ///< zero: serialisation takes no time
  sim::Duration link_delay{};          ///< propagation over one link
  sim::Duration switch_latency{};      ///< first byte in to first byte out
  sim::Duration loopback_latency{};    ///< a packet from a NIC to itself, all its way: it never reaches port or link
  sim::Duration delivery_latency{};    ///< the last byte at the destination until handle() hands the packet over
  sim::Duration delivery_jitter{};     ///< its spread (variation.hpp); 0: it is always the same
  std::vector<EndPoint> end_points{};  ///< by host; empty: all are alike, as said here
  topology::Parameters shape{};        ///< for Topology::shaped; its hosts are the nodes
  Options options{};
  sim::Bytes packet_max{4'224};  ///< largest packet on the wire: what PFC's headroom is worked out with
  std::uint64_t seed = 1;        ///< root of the random stream
  bool eager = false;            ///< every departure is an event: slower, the same results; to check that against
  std::vector<LinkChange> changes{};
  std::vector<LinkLoss> losses{};
  std::vector<PauseStorm> storms{};
  Model model = Model::packet;
  PacketFormat packets{};
  /// NICs place packets as they come: where routing is spray or adaptive, a queue pair's packets go to whichever port
  /// of its host is free first, so that k planes carry k times the rate of one.
  bool planes = false;
  bool sprays = false;  ///< with ecmp, packets of a queue pair have several entropies: planes, too
  FlowOptions flow{};   ///< for Model::flow
  /// Ports have a queue for each of eight; those that are not here have weight 1 and the options' marks. Empty: all
  /// packets have one queue, whatever their class.
  std::vector<TrafficClass> classes{};
  bool telemetry = false;  ///< some connections go by it, whatever `options` say
  LinkTap* tap = nullptr;  ///< sees what links carry (tap.hpp); outlives the network
  Share share{};

  bool operator==(const Config&) const = default;
  [[nodiscard]] sim::Duration loopback_of(NodeId host) const {
    return end_points.empty() ? loopback_latency : end_points[host].loopback_latency;
  }
  [[nodiscard]] sim::Duration delivery_to(NodeId host) const {
    return end_points.empty() ? delivery_latency : end_points[host].delivery_latency;
  }
  [[nodiscard]] sim::Duration jitter_at(NodeId host) const {
    return end_points.empty() ? delivery_jitter : end_points[host].delivery_jitter;
  }
  [[nodiscard]] sim::Duration gap_of(NodeId host) const {
    return end_points.empty() ? packets.gap : end_points[host].gap;
  }
  /// Empty when consistent, else what is wrong. The constructor finds what depends on the graph.
  [[nodiscard]] std::string_view validate() const;
  /// Do switches write telemetry into packets?
  [[nodiscard]] bool writes_telemetry() const { return telemetry || needs_telemetry(options.algorithm()); }
  /// Has each port a queue for each class? A watchdog looks at such queues.
  [[nodiscard]] bool classed() const { return !classes.empty() || options.watchdog.enabled; }
  /// By number, with the buffers of each.
  [[nodiscard]] std::array<TrafficClass, kClasses> all_classes() const;
  /// Those of `classes`, and class 0: packets have no others.
  [[nodiscard]] std::vector<TrafficClass> used_classes() const;
  /// Is there a class with this flow control?
  [[nodiscard]] bool has(FlowControl flow_control) const;
  /// Do devices differ (Options::variation)?
  [[nodiscard]] bool varies() const;
  /// Can a packet find no room in a switch? With PFC only where the headroom is not the one that is worked out, or
  /// where links fail, whose ends forget their pauses.
  [[nodiscard]] bool buffers_overflow() const;
};

}  // namespace loco::fabric
