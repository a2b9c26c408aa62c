// A lone packet takes the sum of its links and switches, on every kind of topology; several follow each other at the
// rate of the slowest link.

#include "fabric/topology/reports.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr std::int64_t kDelay = 1'000'000;
constexpr std::int64_t kSwitch = 300'000;

/// `hops` links. Cut through, a switch goes on after 64 bytes; else after all of them. The host needs all.
std::int64_t closed_form(std::uint32_t hops, std::int64_t bytes, Switching switching) {
  const std::int64_t seen = switching == Switching::cut_through ? std::min<std::int64_t>(64, bytes) : bytes;
  return (hops - 1) * (seen * kByte + kDelay + kSwitch) + bytes * kByte + kDelay;
}

std::int64_t lone_message(Config config, NodeId from, NodeId to, std::uint64_t bytes) {
  Traffic traffic(config, {{.source = from, .destination = to, .bytes = bytes}});
  traffic.run();
  REQUIRE(traffic.all_delivered());
  return traffic.end().ps;
}

}  // namespace

TEST_CASE("a lone packet's latency is the sum of its hops, on every topology, under every routing") {
  const auto shape =
      GENERATE(topology::Parameters{topology::BackToBack{}}, topology::Parameters{topology::Star{5}},
               topology::Parameters{topology::LeafSpine{}}, topology::Parameters{topology::FatTree{4}},
               topology::Parameters{topology::Dragonfly{}}, topology::Parameters{topology::Torus{}},
               topology::Parameters{topology::Ring{6}},
               topology::Parameters{topology::Custom{3, 2, {{0, 3}, {1, 3}, {2, 4}, {3, 4}}, topology::Metric::hops}});
  const auto routing = GENERATE(Routing::deterministic, Routing::ecmp, Routing::adaptive, Routing::spray);
  const auto switching = GENERATE(Switching::cut_through, Switching::store_and_forward);
  Config config = fast_network(shape);
  config.options.routing = routing;
  config.options.switching = switching;
  const topology::Topology graph = topology::build(shape);
  const topology::Routes routes(graph);
  for (NodeId to = 1; to < config.nodes; to += 1 + config.nodes / 7) {
    const std::uint32_t hops = topology::hop_count(graph, routes, 0, to);
    // One packet of 1000 bytes: RoCE v2's 82 bytes and RETH, 16.
    CHECK(lone_message(config, 0, to, 1000) == closed_form(hops, 1000 + 82 + 16, switching));
  }
}

TEST_CASE("packets of a message follow each other at the rate of the link") {
  const auto switching = GENERATE(Switching::cut_through, Switching::store_and_forward);
  Config config = fast_network(topology::FatTree{4});
  config.options.switching = switching;
  // 10 packets over 6 links: the last behind nine. The first has 16 bytes more (RETH), which take their time once when
  // cut through, and on each link when stored and forwarded.
  const std::int64_t reth = 16 * kByte * (switching == Switching::cut_through ? 1 : 6);
  CHECK(lone_message(config, 0, 15, 10 * 4096) == 9 * 4178 * kByte + reth + closed_form(6, 4178, switching));
}

TEST_CASE("a switch does not send a packet's last byte before it has come") {
  // Slow link in, fast link out: cut-through cannot begin at once. 1098 bytes at 10 Gb/s, then at 100.
  topology::Custom shape{2, 1, {{0, 2, 10_Gbps}, {1, 2}}, topology::Metric::hops};
  Config config = fast_network(shape);
  const std::int64_t bytes = 1000 + 82 + 16;
  CHECK(lone_message(config, 0, 1, 1000) == bytes * 10 * kByte + kDelay + kSwitch + kDelay);
  // The other way round it goes on after the headers.
  CHECK(lone_message(config, 1, 0, 1000) == 64 * kByte + kDelay + kSwitch + bytes * 10 * kByte + kDelay);
}

TEST_CASE("a rate at which a byte is no whole number of picoseconds is rounded up once a packet") {
  Config config = fast_network(topology::BackToBack{});
  config.link_rate = {56'000'000'000};  // 142.857 ps a byte
  const std::int64_t bytes = 1000 + 82 + 16;
  CHECK(lone_message(config, 0, 1, 1000) == (bytes * 8'000 + 55) / 56 + kDelay);
}

TEST_CASE("an ACK takes the way back") {
  Traffic traffic(fast_network(topology::Star{2}), {{.source = 0, .destination = 1, .bytes = 1000}});
  traffic.run();
  CHECK(traffic.flows()[0].last_ack.ps ==
        closed_form(2, 1098, Switching::cut_through) + closed_form(2, 82 + 4, Switching::cut_through));
}
