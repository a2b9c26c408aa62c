// What a message takes alone, as a formula, against the packets of it sent one by one: to the picosecond.
#include "fabric/route_time.hpp"

#include "fabric/packet_network.hpp"
#include "fabric/topology/reports.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr sim::Duration kSwitchLatency = 300_ns;

/// h0 - s0 - s1 - ... - h1, one cable for each rate (in Gb/s), each with a delay of its own.
Config chain(const std::vector<std::uint64_t>& rates, Switching switching) {
  const auto switches = static_cast<std::uint32_t>(rates.size() - 1);
  topology::Custom shape{2, switches, {}, topology::Metric::hops};
  for (std::uint32_t i = 0; i < rates.size(); ++i) {
    const std::uint32_t from = i == 0 ? 0 : 1 + i;
    const std::uint32_t to = i == switches ? 1 : 2 + i;
    topology::Edge edge{from, to};
    edge.rate = sim::BitsPerSecond{rates[i] * 1'000'000'000};
    edge.delay = sim::Duration{50'000 * (i + 1)};
    shape.edges.push_back(edge);
  }
  Config config{.topology = Topology::shaped,
                .nodes = 2,
                .link_rate = 100_Gbps,
                .switch_latency = kSwitchLatency,
                .delivery_latency = 77_ns,
                .shape = shape};
  config.options.switching = switching;
  return config;
}

/// All packets lie at the port at time 0, or come there a gap apart: when the last one is handed over.
std::int64_t packet_by_packet(const Config& config, const Burst& burst) {
  PacketNetwork fabric(config);
  sim::EventQueue events;
  for (std::uint64_t i = 0; i < burst.packets; ++i) {
    Packet packet;
    packet.destination = PortId(1);
    packet.wire = i + 1 == burst.packets ? burst.last : burst.full;
    fabric.send(events, {}, {static_cast<std::int64_t>(i) * burst.gap.ps}, packet);
  }
  std::int64_t last = 0;
  while (!events.empty()) {
    const sim::Event e = events.pop_earliest();
    if (fabric.handle(events, e.at, e)) last = e.at.ps;
  }
  return last;
}

std::int64_t formula(const Config& config, const Burst& burst) {
  const Wiring wiring = make_wiring(config);
  const topology::Routes routes(wiring.graph);
  std::vector<LinkInfo> route;
  for (const topology::LinkId id : topology::path(wiring.graph, routes, Routing::deterministic, {0, 1, 0})) {
    route.push_back(wiring.links[id]);
  }
  return burst_time(route, config.switch_latency, burst).ps;
}

}  // namespace

TEST_CASE("a message alone takes what its packets take one by one, wherever the slow cables are") {
  const auto switching = GENERATE(Switching::cut_through, Switching::store_and_forward);
  const std::vector<std::vector<std::uint64_t>> chains = {
      {25},          {25, 25},         {25, 25, 25, 25}, {10, 40, 40, 40}, {40, 10, 40, 40},       {40, 40, 40, 10},
      {10, 100, 25}, {100, 40, 25, 8}, {8, 25, 40, 100}, {40, 10, 25, 10}, {50, 100, 40, 100, 20}, {7, 56, 3, 100, 11}};
  for (const auto& rates : chains) {
    const Config config = chain(rates, switching);
    for (const std::uint64_t packets : {1U, 2U, 3U, 7U, 100U}) {
      for (const std::uint32_t last : {40U, 64U, 65U, 83U, 1000U, 4177U, 4178U}) {
        const Burst burst{.packets = packets, .full = packets == 1 ? last : 4178, .last = last};
        CAPTURE(rates, packets, last);
        CHECK(formula(config, burst) == packet_by_packet(config, burst));
      }
    }
  }
}

TEST_CASE("a message whose packets come a gap apart") {
  for (const auto& rates : std::vector<std::vector<std::uint64_t>>{{25}, {25, 25}, {40, 10, 40}, {10, 100, 25}}) {
    const Config config = chain(rates, Switching::cut_through);
    for (const std::int64_t gap_ps : {1'000, 400'000, 2'000'000, 9'000'000}) {
      for (const std::uint64_t packets : {1U, 2U, 7U, 100U}) {
        const Burst burst{.packets = packets, .full = 4178, .last = packets == 1 ? 4178U : 83U, .gap = {gap_ps}};
        CAPTURE(rates, gap_ps, packets);
        CHECK(formula(config, burst) == packet_by_packet(config, burst));
      }
    }
  }
}

TEST_CASE(
    "equal packets: their time on the narrowest cable, and one packet's on every other that waits for all of it") {
  // 10 packets of 4000 B over 40, 10 and 40 Gb/s: 200, 800 and 200 ps a byte; delays of 50, 100 and 150 ns.
  const Burst burst{.packets = 10, .full = 4000, .last = 4000};
  const std::int64_t latencies = 50'000 + 100'000 + 150'000 + 77'000 + 2 * kSwitchLatency.ps;
  const std::int64_t narrowest = 10 * 4000 * 800;
  CHECK(formula(chain({40, 10, 40}, Switching::store_and_forward), burst) ==
        latencies + narrowest + 4000 * 200 + 4000 * 200);
  // Cut through: 64 bytes before the narrowest cable; behind it the last byte goes on as it comes.
  CHECK(formula(chain({40, 10, 40}, Switching::cut_through), burst) == latencies + narrowest + 64 * 200);
}

TEST_CASE("the narrowest cable of a route; one without a rate is none") {
  const auto infos = [](const std::vector<std::uint64_t>& rates) {
    std::vector<LinkInfo> links;
    for (const std::uint64_t rate : rates) links.push_back({.rate = {rate}});
    return links;
  };
  CHECK(narrowest_rate(infos({40, 10, 25})).value == 10);
  CHECK(narrowest_rate(infos({40, 0, 25})).value == 25);
  CHECK(narrowest_rate(infos({0, 0})).value == 0);
}
