// What can be chosen about a packet fabric, apart from its shape: routing, switches, buffers, flow and congestion
// control, failures. Plain values; fabric_options.hpp is the table of keys, defaults, ranges and texts.
//
// Sources:
//   shared buffers  Choudhury, Hahne, "Dynamic queue length thresholds for shared-memory packet switches", ToN 1998
//   PFC             IEEE 802.1Qbb
//   ECN and DCQCN   Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015: the defaults are
//                   those of its figure 14 and section 5, except hyper increase, which it leaves open (10 R_AI here)
//   other congestion controls   congestion/options.hpp
//   variation       variation.hpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/congestion/options.hpp"
#include "fabric/packet.hpp"
#include "fabric/topology/routes.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

using topology::Routing;

enum class Switching : std::uint8_t {
  cut_through,        ///< a packet leaves once its headers are in and the port is free
  store_and_forward,  ///< once all of it is in
};

enum class FlowControl : std::uint8_t {
  unlimited,  ///< buffers never fill
  pfc,        ///< lossless: a switch pauses links whose packets fill it
  drop_tail,  ///< lossy: a packet that finds its queue full is dropped
};

/// What a PFC watchdog does with a queue that has stood still for too long (watchdog.cpp).
enum class WatchdogAction : std::uint8_t {
  drop,     ///< loses what is in it, and what comes for it
  forward,  ///< sends it all the same
};

/// Switches look at paused queues now and then: one that had packets, sent none and was paused for 99 % of `detect` is
/// not waited for any more, until nobody has paused it for `restore`. The defaults are Junos' and SONiC's.
struct WatchdogOptions {
  bool enabled = false;
  sim::Duration poll{100'000'000'000};
  sim::Duration detect{200'000'000'000};
  sim::Duration restore{200'000'000'000};
  WatchdogAction action = WatchdogAction::drop;

  bool operator==(const WatchdogOptions&) const = default;
};

/// In which order do the packets of a queue pair come to a NIC that takes them as they come (nic.placement)?
enum class PacketOrder : std::uint8_t {
  paths,  ///< that of their paths: on one path they keep theirs
  any,    ///< none: any of them may be the next one, as if each had a path of its own
};

/// Do devices differ as real ones do: clocks that run a little fast or slow, switches that take a packet a little
/// sooner or later (variation.hpp)?
enum class Variation : std::uint8_t {
  automatic,  ///< where it decides something: with drop_tail, which of two packets finds the last room
  none,       ///< all clocks are one
  natural,
};

struct Options {
  Routing routing = Routing::deterministic;
  std::uint32_t ecmp_seed = 0;  ///< what switches hash with, beside the flow
  PacketOrder order = PacketOrder::paths;
  Switching switching = Switching::cut_through;
  FlowControl flow_control = FlowControl::unlimited;
  sim::Bytes buffer_size{12'000'000};  ///< of a switch, shared by its ports
  std::uint32_t buffer_alpha = 125;    ///< dynamic threshold, thousandths of what is free
  sim::Bytes pfc_xoff{0};              ///< held for an ingress port until it is paused; 0: the dynamic threshold
  sim::Bytes pfc_reserved{8'400};      ///< the dynamic threshold is never less; kept back for each ingress port
  sim::Bytes pfc_xon_gap{8'400};       ///< so far below the threshold it is resumed
  sim::Bytes pfc_headroom{0};          ///< kept back for each ingress port; 0: what the link can still deliver
  WatchdogOptions watchdog{};
  bool trim = false;             ///< with drop_tail: a packet that finds no room is cut to its headers
  sim::Bytes trim_size{64};      ///< on the wire
  std::uint32_t trim_class = 7;  ///< of headers, where Config::classes has it; else they go in front of all
  bool ecn = false;
  sim::Bytes ecn_kmin{5'000};
  sim::Bytes ecn_kmax{200'000};
  std::uint32_t ecn_pmax = 10;  ///< thousandths
  DcqcnOptions dcqcn;
  CongestionOptions congestion{};
  std::uint32_t loss = 0;  ///< packets in a million that each link loses
  Variation variation = Variation::automatic;
  std::uint32_t clock_skew = 50;  ///< a clock's rate is off by this at most, parts in a million
  bool reroute = false;           ///< when a link goes down or up, all routes are computed anew
  sim::Duration reroute_delay{1'000'000'000};

  /// dcqcn.enabled is the short form of congestion.algorithm: dcqcn.
  [[nodiscard]] CongestionAlgorithm algorithm() const {
    return dcqcn.enabled ? CongestionAlgorithm::dcqcn : congestion.algorithm;
  }

  bool operator==(const Options&) const = default;
};

/// Background traffic of the flow model: it takes its share of links, and no host receives it.
struct CrossFlow {
  std::uint32_t from = 0;  ///< hosts
  std::uint32_t to = 0;
  sim::BitsPerSecond rate{};  ///< at most; 0: what its links give
  sim::Bytes size{};          ///< on the wire; 0: it never ends
  sim::SimTime start{};
  bool operator==(const CrossFlow&) const = default;
};

/// The flow model (flow_network.hpp): messages instead of packets.
struct FlowOptions {
  std::string platform{};  ///< a SimGrid platform file; empty: the configuration's shape
  std::vector<CrossFlow> cross_traffic{};
  bool operator==(const FlowOptions&) const = default;
};

/// The packets that NICs cut messages into.
struct PacketFormat {
  sim::Bytes mtu{4'096};     ///< payload of each but the last
  sim::Bytes overhead{};     ///< headers and framing of each
  bool reth_in_all = false;  ///< each packet of a WRITE has a RETH, not only the first
  sim::Duration gap{};       ///< least distance between packets that a NIC sends
  /// Packets of a message with so many bytes of payload.
  [[nodiscard]] std::uint32_t count(std::uint32_t length) const {
    return length <= mtu.count ? 1 : static_cast<std::uint32_t>((length + mtu.count - 1) / mtu.count);
  }
  /// Payload of a message's first packet.
  [[nodiscard]] std::uint32_t first(std::uint32_t length) const {
    return length <= mtu.count ? length : static_cast<std::uint32_t>(mtu.count);
  }
  /// Headers and framing of each packet of a WRITE.
  [[nodiscard]] sim::Bytes write_overhead() const { return reth_in_all ? overhead + sim::Bytes{kRethBytes} : overhead; }
  bool operator==(const PacketFormat&) const = default;
};

/// A cable goes down (what is on it and queued for it is lost) or comes back.
struct LinkChange {
  sim::SimTime at{};
  topology::CableId cable = 0;
  bool up = false;
  bool operator==(const LinkChange&) const = default;
};

/// A cable whose loss differs from Options::loss.
struct LinkLoss {
  topology::CableId cable = 0;
  std::uint32_t loss = 0;  ///< packets in a million
  bool operator==(const LinkLoss&) const = default;
};

}  // namespace loco::fabric
