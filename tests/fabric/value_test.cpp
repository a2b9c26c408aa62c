// A fabric is a value and a function of its configuration: copies go on alike, the same seed gives the same run, the
// short cut of one event a hop changes nothing, and no schedule breaks the order on a path.
#include <set>
#include <utility>

#include "fabric/fabric_options.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

/// A small network under some load, drawn from the seed: every option takes part.
Config random_config(sim::Stream& stream) {
  // Cables of different delays and rates, so that few things happen at the same picosecond.
  topology::Custom shape{.hosts = 6, .switches = 4, .edges = {}, .metric = topology::Metric::hops};
  const auto cable = [&](std::uint32_t a, std::uint32_t b) {
    const sim::Duration delay{static_cast<std::int64_t>(100'000 + stream.below(1'000'000))};
    shape.edges.push_back({a, b, stream.chance(1, 3) ? 40_Gbps : 100_Gbps, delay});
  };
  for (std::uint32_t h = 0; h < 6; ++h) cable(h, 6 + h / 3);  // two leaves
  for (const std::uint32_t spine : {8U, 9U}) {
    cable(6, spine);
    cable(7, spine);
  }
  Config config = fast_network(shape);
  config.seed = stream();
  config.options.routing = static_cast<Routing>(stream.below(4));
  config.options.switching = static_cast<Switching>(stream.below(2));
  config.options.flow_control = static_cast<FlowControl>(stream.below(3));
  const bool pfc = config.options.flow_control == FlowControl::pfc;
  config.options.buffer_size = sim::Bytes{(pfc ? 400'000 : 20'000) + stream.below(100'000)};
  config.options.buffer_alpha = static_cast<std::uint32_t>(100 + stream.below(2'000));
  config.options.ecn = stream.chance(1, 2);
  config.options.dcqcn.enabled = config.options.ecn && stream.chance(1, 2);
  if (stream.chance(1, 3)) config.options.loss = 5'000;
  if (stream.chance(1, 3)) {
    const auto broken = static_cast<topology::CableId>(stream.below(10));
    const auto down = static_cast<std::int64_t>(stream.below(60'000'000));
    config.changes = {
        {.at = {down}, .cable = broken, .up = false},
        {.at = {down + static_cast<std::int64_t>(stream.below(60'000'000))}, .cable = broken, .up = true}};
    config.options.reroute = stream.chance(1, 2);
    config.options.reroute_delay = 5_us;
  }
  config.options.variation = static_cast<Variation>(stream.below(3));
  config.delivery_latency = 200_ns;
  config.delivery_jitter = sim::Duration{static_cast<std::int64_t>(stream.below(200'000))};
  return config;
}

std::vector<Flow> random_flows(sim::Stream& stream) {
  std::vector<Flow> flows;
  for (std::uint32_t n = 0; n < 8; ++n) {
    const auto from = static_cast<NodeId>(stream.below(6));
    const auto to = static_cast<NodeId>((from + 1 + stream.below(5)) % 6);
    flows.push_back({.source = from,
                     .destination = stream.chance(1, 2) && from != 0 ? 0 : to,
                     .bytes = 1 + stream.below(300'000),
                     .start = {static_cast<std::int64_t>(stream.below(20'000'000))}});
  }
  return flows;
}

}  // namespace

TEST_CASE("one event a hop gives the same run as an event for every departure") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    sim::Stream stream(seed, "configuration");
    Config config = random_config(stream);
    const std::vector<Flow> flows = random_flows(stream);
    Traffic lazy(config, flows);
    config.eager = true;
    Traffic eager(config, flows);
    lazy.run();
    eager.run();
    INFO("seed " << seed);
    CHECK(lazy.hash() == eager.hash());
    CHECK(lazy.flows() == eager.flows());
    CHECK(lazy.events() <= eager.events());
  }
}

TEST_CASE("a copy taken at any time goes on alike; other seeds differ") {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    sim::Stream stream(seed, "configuration");
    const Config config = random_config(stream);
    const std::vector<Flow> flows = random_flows(stream);
    Traffic traffic(config, flows);
    for (std::uint64_t n = stream.below(2'000); n > 0 && traffic.step(); --n) {
    }
    Traffic copy = traffic;
    REQUIRE(copy == traffic);
    traffic.run();
    copy.run();
    CHECK(copy == traffic);
    CHECK(copy.hash() == traffic.hash());
    Traffic again(config, flows);
    again.run();
    CHECK(again.hash() == traffic.hash());
    CHECK(again == traffic);  // although it was built apart
    hashes.insert(traffic.hash());
  }
  CHECK(hashes.size() == 60);
}

TEST_CASE("under any schedule, packets of a flow that has one path stay in order, and none is lost") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Config config = fast_network(topology::LeafSpine{.leaves = 2, .spines = 2, .hosts_per_leaf = 2});
    config.options.routing = seed % 2 == 0 ? Routing::ecmp : Routing::deterministic;
    PacketNetwork fabric(config);
    sim::EventQueue events;
    for (std::uint32_t n = 0; n < 30; ++n) {
      for (NodeId from = 0; from < 3; ++from) {
        Packet p;
        p.source_qp = from;
        p.source = PortId(from);
        p.destination = PortId(3);
        p.wire = 100;
        p.wqe = n;
        fabric.send(events, {}, {}, p);
      }
    }
    sim::Stream stream(seed, "schedule");
    std::vector<std::uint32_t> next(3, 0);
    sim::SimTime now;
    while (!events.empty()) {
      const sim::Event e = events.pop(stream.below(events.size()));
      now = std::max(now, e.at);
      if (const auto p = fabric.handle(events, now, e)) CHECK(p->wqe == next.at(p->source.index())++);
      CHECK(events.size() <= fabric.lanes());  // one pending event a lane
    }
    CHECK(next == std::vector<std::uint32_t>{30, 30, 30});
  }
}

TEST_CASE("with PFC, any schedule ends with everything delivered") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Config config = fast_network(topology::Star{4});
    config.options.flow_control = FlowControl::pfc;
    config.options.pfc_xoff = sim::Bytes{2'000};
    PacketNetwork fabric(config);
    sim::EventQueue events;
    for (std::uint32_t n = 0; n < 60; ++n) {
      for (NodeId from = 1; from < 4; ++from) {
        Packet p;
        p.source_qp = from;
        p.source = PortId(from);
        p.wire = 1000;
        p.wqe = n;
        fabric.send(events, {}, {}, p);
      }
    }
    sim::Stream stream(seed, "schedule");
    std::vector<std::uint32_t> next(4, 0);
    sim::SimTime now;
    while (!events.empty()) {
      const sim::Event e = events.pop(stream.below(events.size()));
      now = std::max(now, e.at);
      if (const auto p = fabric.handle(events, now, e)) CHECK(p->wqe == next.at(p->source.index())++);
    }
    CHECK(next == std::vector<std::uint32_t>{0, 60, 60, 60});
    CHECK(fabric.packets_inside() == 0);
    CHECK(fabric.paused_links().empty());
  }
}

TEST_CASE("with PFC nothing is lost, however late pause frames come") {
  // 400 packets of 1000 bytes from two hosts for one: when the last is in, half of them are still in the switch. It has
  // room for the headroom (2 us at 100 Gb/s, three packets, a frame) and the threshold of its three ports and a byte
  // more, 92 kB. Pauses come when nothing else is left to happen.
  Config config = fast_network(topology::Star{3});
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{2'000};
  config.options.buffer_size = sim::Bytes{3 * (25'001 + 3'000 + 84 + 2'000) + 1};
  config.packet_max = sim::Bytes{1'000};
  PacketNetwork fabric(config);
  sim::EventQueue events;
  for (std::uint32_t n = 0; n < 400; ++n) {
    Packet p;
    p.source_qp = 1 + n % 2;
    p.source = PortId(p.source_qp);
    p.wire = 1000;
    fabric.send(events, {}, {}, p);
  }
  sim::SimTime now;
  while (!events.empty()) {
    const auto late = [&](std::size_t i) {
      const sim::Event& e = events.pending(i);
      return std::pair(e.what == kEventPause, e.at);
    };
    std::size_t pick = 0;
    for (std::size_t i = 1; i < events.size(); ++i) pick = late(i) < late(pick) ? i : pick;
    const sim::Event e = events.pop(pick);
    now = std::max(now, e.at);
    fabric.handle(events, now, e);
  }
  CHECK(fabric.packets_delivered() == 400);
  CHECK(fabric.packets_lost(LossReason::buffer_full) == 0);
}

TEST_CASE("the table of options: keys are unique, defaults in range, what is set is read back") {
  std::set<std::string_view> keys;
  const Options defaults;
  for (const options::Option& option : fabric_options()) {
    CHECK(keys.insert(option.key).second);
    CHECK(options::in_range(option, option.get(&defaults)));
    CHECK(options::default_number(option) == option.get(&defaults));
    CHECK((option.type == options::Type::choice) == !option.choices.empty());
    const std::int64_t largest = options::largest(option);
    Options changed;
    option.set(&changed, largest);
    CHECK(option.get(&changed) == largest);
    std::size_t different = 0;
    for (const options::Option& other : fabric_options())
      different += other.get(&changed) != other.get(&defaults) ? 1U : 0U;
    CHECK(different == (largest == option.get(&defaults) ? 0U : 1U));
  }
}
