// How real devices differ, where a simulation's would all be alike: what decides which one of two packets of equal
// senders finds the last room in a buffer.
//
// Clocks: a port sends at the rate of its device's own oscillator. IEEE 802.3 allows +-100 parts in a million (clauses
// 52 to 139, "signaling rate"; elastic buffers are sized by twice that: AMD PG047); crystals for Ethernet are sold with
// +-20 to +-50. Two senders of packets of time T whose clocks are d apart pass through all phases in a time of T / d.
//
// A switch takes a packet into its memory while it arrives, cell by cell and in turns with its other ports. At which
// moment of that it finds room or none differs from packet to packet. Without such differences the sender whose packets
// come a picosecond before the other's loses nothing, and the other one everything: Floyd and Jacobson, "On traffic
// phase effects in packet-switched gateways" (Internetworking 3(3), 1992), who find that a random time of up to that of
// one packet ends it. So the moment is drawn from the packet's own time on its link.
//
// A NIC hands a packet over after a time (nic.receive) that has a least value and a tail. perftest reports half round
// trips, the mean of two such times; with a tail that halves every h its median lies 1.2 h above
// the least, its 99th percentile 4.8 h: the shape of published reports, 0.88 / 0.98 / 1.21 us (least, median, p99) and
// 1.42 / 1.47 / 1.57. The profile's value stays the median of one packet. p99 / least of 1.24 on a ConnectX-5 of 1.58
// us is h = 76 ns.
//
// None of them changes an order: packets of a link stay in its queue. A lone packet leaves a switch when it would
// without (later only when its own time is more than the switch's latency), and no event is more. All are functions of
// the seed, the device, and how many packets the link has carried, whatever the order in which events are worked out.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/topology/topology.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// By how much the clock of each of the graph's vertices runs fast, in parts of 10^9: uniform within clock_skew. Empty
/// when all are alike.
[[nodiscard]] std::vector<std::int64_t> clock_errors(const Config& config, const topology::Topology& graph);

/// The rate of a port whose clock is off by `error` parts of 10^9.
[[nodiscard]] sim::BitsPerSecond skewed(sim::BitsPerSecond rate, std::int64_t error);

/// Of the `n`-th packet over a link: a number in [0, most], uniform.
[[nodiscard]] inline std::int64_t moment(std::uint64_t seed, topology::LinkId link, std::uint64_t n,
                                         std::int64_t most) {
  std::uint64_t state = seed + (std::uint64_t{link} << 40U) + n;
  return static_cast<std::int64_t>(sim::splitmix64_below(state, static_cast<std::uint64_t>(most) + 1));
}

/// Of the `n`-th packet over a link: a time of which half are at least `half`, a quarter at least twice that, and so
/// on: an exponential distribution in steps, without floating point. At most 64 times `half`.
[[nodiscard]] inline std::int64_t halving(std::uint64_t seed, topology::LinkId link, std::uint64_t n,
                                          std::int64_t half) {
  std::uint64_t state = seed + (std::uint64_t{link} << 40U) + n;
  const auto halves = static_cast<std::int64_t>(std::countl_zero(sim::splitmix64(state)));
  return halves * half + static_cast<std::int64_t>(sim::splitmix64_below(state, static_cast<std::uint64_t>(half)));
}

}  // namespace loco::fabric
