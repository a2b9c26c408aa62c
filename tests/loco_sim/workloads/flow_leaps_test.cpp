// Leaps of flows (loco_sim/workloads/flows/leaps.hpp): a comparison with the run in which every packet is simulated
// finds each of them right, and notices one that is wrong by a packet or by a period. tests/python/test_flow_leaps.py
// compares more networks.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/flows/flow_player.hpp"
#include "tests/catch.hpp"

using loco::ClusterConfig;
using loco::FastForward;
using loco::SimulatedCluster;
using namespace loco::workloads::flows;

namespace {

struct Played {
  std::vector<FlowRecord> records;
  std::uint64_t left_out = 0;  ///< packets

  bool operator==(const Played& other) const { return records == other.records; }
};

Played played(ClusterConfig config, const std::vector<Flow>& flows, FastForward mode,
              LeapFault fault = LeapFault::none) {
  config.fast_forward = mode;
  SimulatedCluster cluster(config);
  const auto player = start(cluster, {.flows = flows, .triggers = {}, .fires = {}}, {.leap_fault = fault});
  cluster.run();
  return {records(*player), packets_left_out(*player)};
}

/// Of hosts whose NICs hold all translations, so that segments are short.
ClusterConfig star(std::uint32_t nodes) {
  static const loco::nic::HardwareProfile profile = loco::scenario::load_hardware("cx5-roce-100g").profile;
  ClusterConfig config;
  config.profile = profile;
  config.profile.nic_translation_entries = 0;
  config.nodes = nodes;
  return config;
}

}  // namespace

TEST_CASE("a leap that is wrong by a packet or a period shows by so much in the times of flows") {
  const std::vector<Flow> flows = {{.source = 0, .destination = 1, .bytes = 8'000'000},
                                   {.source = 1, .destination = 2, .bytes = 9'000'000}};
  const ClusterConfig config = star(3);
  const Played off = played(config, flows, FastForward::off);
  const Played exact = played(config, flows, FastForward::exact);
  REQUIRE(exact.left_out > 1000);
  CHECK(exact == off);
  // A packet's time on the wire. A period is a segment of 64.
  const loco::nic::HardwareProfile& p = config.profile;
  const std::int64_t packet_ps =
      loco::sim::transmission_time({p.link_mtu.count + p.link_overhead.count}, p.link_rate).ps;
  const Played packet = played(config, flows, FastForward::exact, LeapFault::packet_too_many);
  const Played period = played(config, flows, FastForward::exact, LeapFault::period_too_short);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const std::int64_t by_packets = off.records[f].received_ps - packet.records[f].received_ps;
    const std::int64_t by_periods = off.records[f].received_ps - period.records[f].received_ps;
    INFO("flow " << f << " is early by " << by_packets << " and " << by_periods << " ps");
    CHECK(by_packets > 0);
    CHECK(by_packets % packet_ps == 0);
    CHECK(by_periods > 0);
    CHECK(by_periods % (64 * packet_ps) == 0);
  }
}

TEST_CASE("networks drawn at random: leaps change no time, and wrong ones never go unnoticed") {
  std::uint32_t leaping = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 draw(seed);
    const auto below = [&draw](std::uint32_t n) { return static_cast<std::uint32_t>(draw() % n); };
    const std::uint32_t nodes = 3 + below(6);
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i <= below(nodes); ++i) {
      const std::uint32_t source = below(nodes);
      flows.push_back({.source = source,
                       .destination = (source + 1 + below(nodes - 1)) % nodes,
                       .bytes = (4 + below(12)) * 1'000'000,
                       .start_ps = below(2) * below(1000) * std::int64_t{1'000'000}});
    }
    INFO("seed " << seed);
    const Played off = played(star(nodes), flows, FastForward::off);
    const Played exact = played(star(nodes), flows, FastForward::exact);
    CHECK(exact == off);
    if (exact.left_out == 0) continue;
    ++leaping;
    for (const LeapFault fault : {LeapFault::packet_too_many, LeapFault::period_too_short})
      CHECK_FALSE(played(star(nodes), flows, FastForward::exact, fault) == off);
  }
  CHECK(leaping >= 4);  // else this says little
}
