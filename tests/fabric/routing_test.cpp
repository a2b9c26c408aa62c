// Which ways packets take, and what that does to their order.
#include <numeric>

#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

/// Packets on each of the uplinks of the first leaf.
std::vector<std::uint64_t> uplink_packets(const PacketNetwork& fabric) {
  std::vector<std::uint64_t> packets;
  const topology::Topology& g = fabric.graph();
  for (const topology::LinkId link : g.ports(g.switch_vertex(0))) {
    if (!g.is_host(g.link(link).to)) packets.push_back(fabric.counters(link).packets);
  }
  return packets;
}

Config leaf_spine(Routing routing) {
  Config config = fast_network(topology::LeafSpine{.leaves = 2, .spines = 4, .hosts_per_leaf = 16});
  config.options.routing = routing;
  return config;
}

/// Each of 16 hosts of leaf 0 sends one message to its opposite below leaf 1.
std::vector<Flow> across(std::uint64_t bytes) {
  std::vector<Flow> flows;
  for (NodeId h = 0; h < 16; ++h) flows.push_back({.source = h, .destination = 16 + h, .bytes = bytes});
  return flows;
}

std::uint32_t out_of_order(const Traffic& traffic) {
  std::uint32_t n = 0;
  for (const FlowState& f : traffic.flows()) n += f.out_of_order;
  return n;
}

}  // namespace

TEST_CASE("deterministic: destinations share the uplinks evenly, and flows keep their order") {
  Traffic traffic(leaf_spine(Routing::deterministic), across(40 * 4096), 0);
  traffic.run();
  CHECK(uplink_packets(traffic.fabric()) == std::vector<std::uint64_t>{160, 160, 160, 160});
  CHECK(out_of_order(traffic) == 0);
}

TEST_CASE("ecmp: a flow has one way; many flows spread like balls in bins") {
  std::vector<Flow> flows;
  for (int n = 0; n < 16; ++n) {
    for (const Flow& f : across(4 * 4096)) flows.push_back(f);
  }
  Traffic traffic(leaf_spine(Routing::ecmp), flows, 0);
  traffic.run();
  const auto packets = uplink_packets(traffic.fabric());
  CHECK(std::accumulate(packets.begin(), packets.end(), std::uint64_t{0}) == 1024);
  for (const std::uint64_t p : packets) {
    CHECK(p % 4 == 0);  // whole flows
    // 256 flows, 4 bins: 64 each with a standard deviation of sqrt(256 * 3/16) = 6.9.
    CHECK(std::abs(static_cast<double>(p) / 4 - 64) < 4 * 6.9);
  }
  CHECK(out_of_order(traffic) == 0);
}

TEST_CASE("ecmp: a flow is a queue pair, those of one pair of hosts spread, too") {
  const std::vector<Flow> flows(256, {.source = 0, .destination = 16, .bytes = 4096});
  Traffic traffic(leaf_spine(Routing::ecmp), flows, 0);
  traffic.run();
  for (const std::uint64_t p : uplink_packets(traffic.fabric())) {
    CHECK(std::abs(static_cast<double>(p) - 64) < 4 * 6.9);  // as above
  }
}

TEST_CASE("spray: packets spread evenly, and overtake each other") {
  Traffic traffic(leaf_spine(Routing::spray), across(64 * 4096), 0);
  traffic.run();
  CHECK(traffic.all_delivered());
  // 1024 packets, 4 bins: 256 with a standard deviation of 13.9.
  for (const std::uint64_t p : uplink_packets(traffic.fabric())) {
    CHECK(std::abs(static_cast<double>(p) - 256) < 4 * 13.9);
  }
  CHECK(out_of_order(traffic) > 0);
}

TEST_CASE("adaptive: the uplinks never differ by more than a packet or two") {
  Traffic traffic(leaf_spine(Routing::adaptive), across(64 * 4096), 0);
  traffic.run();
  CHECK(traffic.all_delivered());
  const auto packets = uplink_packets(traffic.fabric());
  CHECK(std::accumulate(packets.begin(), packets.end(), std::uint64_t{0}) == 1024);
  for (const std::uint64_t p : packets) CHECK(std::abs(static_cast<double>(p) - 256) <= 8);
}

TEST_CASE("a permutation on a fat tree ends sooner with adaptive routing and spraying than with ecmp") {
  const auto end = [](Routing routing) {
    Config config = fast_network(topology::FatTree{8});
    config.options.routing = routing;
    Traffic traffic(config, permutation(128, 1, 1'000'000));
    traffic.run();
    REQUIRE(traffic.all_delivered());
    return traffic.end();
  };
  const sim::SimTime ecmp = end(Routing::ecmp);
  CHECK(end(Routing::adaptive) < ecmp);
  CHECK(end(Routing::spray) < ecmp);
}
