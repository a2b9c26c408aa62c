// Links that lose packets, go down and come back.

#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

topology::CableId cable_between(const topology::Parameters& shape, std::string_view a, std::string_view b) {
  const topology::Topology g = topology::build(shape);
  for (topology::CableId c = 0; c < g.cables(); ++c) {
    if (g.name(g.link(2 * c).from) == a && g.name(g.link(2 * c).to) == b) return c;
    if (g.name(g.link(2 * c).from) == b && g.name(g.link(2 * c).to) == a) return c;
  }
  FAIL("no such cable");
  return 0;
}

}  // namespace

TEST_CASE("random loss: as many as the probability says, on each link") {
  Config config = fast_network(topology::Star{2});
  config.options.loss = 10'000;  // 1 %
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 20'000 * 4096}}, 0);
  traffic.run();
  // Two links: 1 - 0.99^2 = 1.99 % of 20,000 = 398; standard deviation 19.75.
  CHECK(std::abs(static_cast<double>(traffic.fabric().packets_lost(LossReason::link_error)) - 398) < 4 * 19.75);
  CHECK(traffic.fabric().packets_inside() == 0);
}

TEST_CASE("loss of one cable only, on both of its directions") {
  const topology::Star shape{3};
  Config config = fast_network(shape);
  config.losses = {{.cable = cable_between(shape, "h2", "s0"), .loss = 500'000}};
  Traffic traffic(config,
                  {{.source = 0, .destination = 1, .bytes = 1'000'000},
                   {.source = 0, .destination = 2, .bytes = 1'000'000},
                   {.source = 2, .destination = 1, .bytes = 1'000'000}},
                  0);
  traffic.run();
  CHECK(traffic.flows()[0].delivered == 1'000'000);
  for (const std::size_t flow : {1U, 2U}) {
    CHECK(traffic.flows()[flow].delivered < 700'000);
    CHECK(traffic.flows()[flow].delivered > 300'000);
  }
}

TEST_CASE("a link that goes down loses what is on it, and what comes until it is up again") {
  const topology::Star shape{2};
  Config config = fast_network(shape);
  const topology::CableId cable = cable_between(shape, "h1", "s0");
  config.changes = {{.at = {200'000'000}, .cable = cable, .up = true},
                    {.at = {100'000'000}, .cable = cable, .up = false}};
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 1'000 * 4096}}, 0);
  traffic.run();
  const FlowState& flow = traffic.flows()[0];
  const std::uint64_t lost = traffic.fabric().packets_lost(LossReason::link_down);
  CHECK(flow.delivered / 4096 + lost == 1'000);
  // Packet n (from 0) starts on the second link at 64 bytes + 1 us + 300 ns + 16 bytes + n packet times, and is there
  // a packet time and 1 us later. Lost: those that would arrive after 100 us and that reach the switch (1.3 us and 64
  // bytes after they were sent, less the switch's 300 ns) before 200 us.
  std::uint64_t expected = 0;
  for (std::int64_t n = 0; n < 1'000; ++n) {
    const std::int64_t sent = n == 0 ? 0 : (16 + n * 4178) * kByte;
    const std::int64_t at_switch = sent + 64 * kByte + 1'000'000;
    const std::int64_t there = at_switch + 300'000 + (4178 + 16) * kByte + 1'000'000;
    if (there > 100'000'000 && at_switch < 200'000'000) ++expected;
  }
  CHECK(std::abs(static_cast<std::int64_t>(lost) - static_cast<std::int64_t>(expected)) <= 1);
  CHECK(flow.last_delivery.ps > 200'000'000);
  CHECK(traffic.fabric().packets_inside() == 0);
}

TEST_CASE("a cable that fails while a packet is on it loses the packet, whatever the switch has seen of it") {
  // 4178 + 16 bytes at 100 Gb/s take 335.52 ns, the cable 1 us: the first 64 bytes are in after 1.00512 us, the last
  // one after 1.33552 us.
  const auto switching = GENERATE(Switching::cut_through, Switching::store_and_forward);
  const auto [down_ps, lost] = GENERATE(table<std::int64_t, std::uint64_t>(
      {{500'000, 1}, {1'005'119, 1}, {1'005'121, 1}, {1'335'520, 1}, {1'335'521, 0}}));
  CAPTURE(switching, down_ps);
  const topology::Star shape{2};
  Config config = fast_network(shape);
  config.options.switching = switching;
  config.changes = {{.at = {down_ps}, .cable = cable_between(shape, "h0", "s0"), .up = false}};
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 4096}}, 0);
  traffic.run();
  CHECK(traffic.fabric().packets_lost(LossReason::link_down) == lost);
  CHECK(traffic.flows()[0].delivered == 4096 * (1 - lost));
  CHECK(traffic.fabric().packets_inside() == 0);
}

TEST_CASE("a cable that fails loses nothing of what is on another one, and one that comes up twice changes nothing") {
  // Between 1.00512 and 1.33552 us the packet is on its way into the switch and already behind it.
  const topology::Star shape{3};
  Config config = fast_network(shape);
  const topology::CableId used = cable_between(shape, "h0", "s0");
  const std::vector<Flow> flows = {{.source = 0, .destination = 1, .bytes = 100 * 4096}};
  Traffic undisturbed(config, flows, 0);
  undisturbed.run();
  SECTION("another one") {
    config.changes = {{.at = {1'200'000}, .cable = cable_between(shape, "h2", "s0"), .up = false}};
  }
  SECTION("up") { config.changes = {{.at = {1'200'000}, .cable = used, .up = true}}; }
  Traffic traffic(config, flows, 0);
  traffic.run();
  CHECK(traffic.all_delivered());
  CHECK(traffic.hash() == undisturbed.hash());
}

TEST_CASE("with reroute, packets go round a broken link once switches know") {
  const topology::LeafSpine shape{.leaves = 2, .spines = 2, .hosts_per_leaf = 1};
  const topology::CableId cable = cable_between(shape, "s0", "s2");
  const bool reroute = GENERATE(false, true);
  Config config = fast_network(shape);
  config.options.reroute = reroute;
  config.options.reroute_delay = 20_us;
  config.changes = {{.at = {50'000'000}, .cable = cable, .up = false}};
  // Deterministic routing takes one of the spines for a destination: try which destination uses s2.
  Config probe = config;
  probe.changes.clear();
  Traffic first(probe, {{.source = 0, .destination = 1, .bytes = 4096}}, 0);
  first.run();
  const bool by_s2 = first.fabric().counters(2 * cable).packets + first.fabric().counters(2 * cable + 1).packets > 0;
  const NodeId from = by_s2 ? 0 : 1;
  Traffic traffic(config, {{.source = from, .destination = 1 - from, .bytes = 1'000 * 4096}}, 0);
  traffic.run();
  const std::uint64_t lost = traffic.fabric().packets_lost(LossReason::link_down);
  if (reroute) {
    // 20 us and the flight of a microsecond or two: 60 to 70 packets of 334 ns.
    CHECK(lost >= 59);
    CHECK(lost <= 70);
    CHECK(traffic.flows()[0].delivered == (1'000 - lost) * 4096);
  } else {
    CHECK(lost > 800);
  }
}

TEST_CASE("adaptive routing and spraying leave a broken link at once, where there is another") {
  const auto routing = GENERATE(Routing::adaptive, Routing::spray);
  const topology::LeafSpine shape{.leaves = 2, .spines = 4, .hosts_per_leaf = 1};
  Config config = fast_network(shape);
  config.options.routing = routing;
  config.changes = {{.at = {50'000'000}, .cable = cable_between(shape, "s0", "s2"), .up = false}};
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 1'000 * 4096}}, 0);
  traffic.run();
  // A microsecond of link holds three packets, and one may be leaving.
  CHECK(traffic.fabric().packets_lost(LossReason::link_down) <= 4);
}

TEST_CASE("adaptive routing and spraying lose what comes while all of the ways are dead") {
  const auto routing = GENERATE(Routing::adaptive, Routing::spray);
  const topology::LeafSpine shape{.leaves = 2, .spines = 2, .hosts_per_leaf = 1};
  Config config = fast_network(shape);
  config.options.routing = routing;
  config.changes = {{.at = {0}, .cable = cable_between(shape, "s0", "s2"), .up = false},
                    {.at = {0}, .cable = cable_between(shape, "s0", "s3"), .up = false}};
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 100 * 4096}}, 0);
  traffic.run();
  CHECK(traffic.fabric().packets_lost(LossReason::link_down) == 100);
  CHECK(traffic.fabric().packets_inside() == 0);
}

TEST_CASE("no way left: packets are lost and named") {
  const topology::Star shape{2};
  Config config = fast_network(shape);
  config.options.reroute = true;
  config.options.reroute_delay = sim::Duration{0};
  config.changes = {{.at = {0}, .cable = cable_between(shape, "h1", "s0"), .up = false}};
  Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 4096, .start = {1'000'000}}}, 0);
  traffic.run();
  CHECK(traffic.fabric().packets_lost(LossReason::no_route) == 1);
}

TEST_CASE("a paused link that goes down and comes back is not paused any more, and counts are right") {
  const topology::Star shape{4};
  Config config = fast_network(shape);
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{20'000};
  const topology::CableId sender = cable_between(shape, "h3", "s0");
  const topology::CableId receiver = cable_between(shape, "h0", "s0");
  config.changes = {{.at = {50'000'000}, .cable = sender, .up = false},
                    {.at = {60'000'000}, .cable = sender, .up = true},
                    {.at = {70'000'000}, .cable = receiver, .up = false},
                    {.at = {90'000'000}, .cable = receiver, .up = true}};
  Traffic traffic(config, incast(4, 3, 2'000'000), 0);
  traffic.run();
  const std::uint64_t packets = 3 * ((2'000'000 + 4095) / 4096);
  CHECK(traffic.fabric().packets_inside() == 0);
  CHECK(traffic.fabric().paused_links().empty());
  CHECK(traffic.fabric().packets_delivered() + traffic.fabric().packets_lost(LossReason::link_down) == packets);
}

TEST_CASE("a link may fail while a pause frame is on its way to it, or while it is paused") {
  const topology::Star shape{3};
  Config config = fast_network(shape);
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{20'000};
  const topology::CableId cable = cable_between(shape, "h2", "s0");
  const std::vector<Flow> flows = incast(3, 2, 100 * 4096);
  // When it is told to pause, when it does, and when it goes on.
  Traffic undisturbed(config, flows, 0);
  const topology::LinkId link = 2 * cable + (undisturbed.fabric().graph().link(2 * cable).from == 2 ? 0 : 1);
  const auto when = [&](const auto& happens) {
    while (!happens() && undisturbed.step()) {
    }
    return undisturbed.now().ps;
  };
  const auto paused = [&] { return !undisturbed.fabric().paused_links().empty(); };
  const std::int64_t told = when([&] { return undisturbed.fabric().counters(link).pauses > 0; });
  const std::int64_t stops = when([&] { return paused() && undisturbed.fabric().paused_links().front() == link; });
  const std::int64_t goes_on = when([&] { return undisturbed.fabric().counters(link).paused.ps > 0; });
  for (const std::int64_t at : {(told + stops) / 2, (stops + goes_on) / 2}) {
    config.changes = {{.at = {at}, .cable = cable, .up = false},
                      {.at = {at + 100'000'000}, .cable = cable, .up = true}};  // 100 us: the other flow has ended
    Traffic traffic(config, flows, 0);
    traffic.run();
    CHECK(traffic.fabric().paused_links().empty());
    CHECK(traffic.fabric().packets_inside() == 0);
    CHECK(traffic.fabric().packets_delivered() + traffic.fabric().packets_lost(LossReason::link_down) == 200);
  }
}

TEST_CASE("a link whose pause frame was lost with it is paused again when it is back and that is needed") {
  const topology::Star shape{3};
  Config config = fast_network(shape);
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{20'000};
  const std::vector<Flow> flows = incast(3, 2, 1'000 * 4096);
  const topology::CableId cable = cable_between(shape, "h2", "s0");
  Traffic undisturbed(config, flows, 0);
  const topology::LinkId link = 2 * cable + (undisturbed.fabric().graph().link(2 * cable).from == 2 ? 0 : 1);
  while (undisturbed.fabric().counters(link).pauses == 0 && undisturbed.step()) {
  }
  // The frame takes 84 bytes of time and 1 us: 500 ns later it is on its way.
  const sim::SimTime down = undisturbed.now() + 500_ns;
  config.changes = {{.at = down, .cable = cable, .up = false}, {.at = down + 10_us, .cable = cable, .up = true}};
  Traffic traffic(config, flows, 0);
  while (traffic.now() < down + 10_us && traffic.step()) {
  }
  CHECK(traffic.fabric().counters(link).paused.ps == 0);
  // Both senders have 80 % of their messages still to send, at twice the rate of the receiver's link.
  traffic.run();
  CHECK(traffic.fabric().counters(link).paused.ps > 0);
}

TEST_CASE("a link that fails leaves no event behind") {
  Config config = fast_network(topology::Star{2});
  config.changes = {{.at = {100'000}, .cable = 0, .up = false}};
  sim::EventQueue events;
  PacketNetwork fabric(config);
  fabric.start(events);
  Packet packet;
  packet.source = PortId(fabric.graph().link(0).from < 2 ? fabric.graph().link(0).from : fabric.graph().link(0).to);
  packet.destination = PortId(1 - packet.source.index());
  packet.wire = 4'194;
  fabric.send(events, {}, {}, packet);
  fabric.handle(events, {100'000}, events.pop_earliest());
  CHECK(fabric.packets_lost(LossReason::link_down) == 1);
  CHECK(events.empty());
}

TEST_CASE("adaptive routing takes a port that is back for as empty as it is") {
  // Four hosts of 100 Gb/s over two uplinks of 50: both queue. One fails and is back; a while later both queues are as
  // long again, to two packets, because every packet has taken the shorter one.
  const topology::LeafSpine shape{.leaves = 2, .spines = 2, .hosts_per_leaf = 4, .oversubscription = 4};
  Config config = fast_network(shape);
  config.options.routing = Routing::adaptive;
  const topology::CableId cable = cable_between(shape, "s0", "s2");
  config.changes = {{.at = {100'000'000}, .cable = cable, .up = false},
                    {.at = {101'000'000}, .cable = cable, .up = true}};
  std::vector<Flow> flows;
  for (NodeId h = 0; h < 4; ++h) flows.push_back({.source = h, .destination = 4 + h, .bytes = 4'000'000});
  Traffic traffic(config, flows, 0);
  const topology::CableId other = cable_between(shape, "s0", "s3");
  const auto queued = [&](topology::CableId of) {
    const topology::Topology& g = traffic.fabric().graph();
    const topology::LinkId up = 2 * of + (g.name(g.link(2 * of).from) == "s0" ? 0 : 1);
    return static_cast<std::int64_t>(traffic.fabric().queued(up, traffic.now()));
  };
  while (traffic.next_time().ps < 100'000'000) traffic.step();
  CHECK(queued(cable) > 100'000);
  while (traffic.next_time().ps < 300'000'000) traffic.step();
  CHECK(queued(other) > 500'000);
  // In the switch's pipeline, 300 ns, are four packets more, which adaptive routing counts and the queue does not.
  CHECK(std::abs(queued(cable) - queued(other)) <= (2 + 4) * 4194);
}

TEST_CASE("with reroute, packets take their old ways again when the link is back") {
  const auto shape = GENERATE(topology::Parameters{topology::FatTree{4}}, topology::Parameters{topology::Torus{}},
                              topology::Parameters{topology::Dragonfly{}});
  Config config = fast_network(shape);
  std::vector<Flow> flows = permutation(config.nodes, 1, 4096);
  for (Flow& flow : flows) flow.start = {10'000'000};
  const auto packets = [&] {
    Traffic traffic(config, flows, 0);
    traffic.run();
    std::vector<std::uint64_t> by_link;
    for (topology::LinkId id = 0; id < traffic.fabric().links(); ++id)
      by_link.push_back(traffic.fabric().counters(id).packets);
    return by_link;
  };
  const std::vector<std::uint64_t> undisturbed = packets();
  config.options.reroute = true;
  config.options.reroute_delay = 1_us;
  const topology::CableId between_switches = topology::build(shape).cables() - 1;
  config.changes = {{.at = {0}, .cable = between_switches, .up = false},
                    {.at = {5'000'000}, .cable = between_switches, .up = true}};
  CHECK(packets() == undisturbed);
}

TEST_CASE("a port that fails has no queue, and begins with an idle wire when it is back") {
  const topology::Star shape{3};
  Config config = fast_network(shape);
  const topology::CableId cable = cable_between(shape, "h0", "s0");
  config.changes = {{.at = {40'000'000}, .cable = cable, .up = false},
                    {.at = {50'000'000}, .cable = cable, .up = true}};
  Traffic traffic(config, incast(3, 2, 1'000'000), 0);
  const topology::LinkId port = 2 * cable + (traffic.fabric().graph().link(2 * cable).to == 0 ? 0 : 1);
  while (traffic.next_time().ps < 40'000'000) traffic.step();
  CHECK(traffic.fabric().queued(port, traffic.now()) > 100'000);
  while (traffic.next_time().ps < 50'000'000) traffic.step();
  CHECK(traffic.fabric().queued(port, traffic.now()) == 0);
}

TEST_CASE("a host's port that is back takes the next packet at once, whatever was lost on it") {
  Config config = fast_network(topology::Star{2});
  config.changes = {{.at = {1'000'000}, .cable = 0, .up = false}, {.at = {2'000'000}, .cable = 0, .up = true}};
  sim::EventQueue events;
  PacketNetwork fabric(config);
  fabric.start(events);
  Packet packet;
  packet.source = PortId(fabric.graph().link(0).from < 2 ? fabric.graph().link(0).from : fabric.graph().link(0).to);
  packet.destination = PortId(1 - packet.source.index());
  packet.wire = 1'000;
  sim::SimTime port;
  for (int i = 0; i < 100; ++i) port = fabric.send(events, {0}, {}, packet);
  CHECK(port.ps == 100 * 1'000 * kByte);  // 8 us
  sim::SimTime now;
  while (!events.empty()) {
    const sim::Event event = events.pop_earliest();
    now = event.at;
    fabric.handle(events, now, event);
    if (event.what == kEventLink && now.ps == 2'000'000) break;
  }
  CHECK(fabric.send(events, now, {}, packet).ps == 2'000'000 + 1'000 * kByte);
}

TEST_CASE("a host's port sends into its own dead cable at its rate") {
  Config config = fast_network(topology::Star{2});
  config.changes = {{.at = {0}, .cable = 0, .up = false}};
  sim::EventQueue events;
  PacketNetwork fabric(config);
  fabric.start(events);
  fabric.handle(events, {}, events.pop_earliest());
  Packet packet;
  packet.source = PortId(fabric.graph().link(0).from < 2 ? fabric.graph().link(0).from : fabric.graph().link(0).to);
  packet.destination = PortId(1 - packet.source.index());
  packet.wire = 1'000;
  CHECK(fabric.send(events, {}, {}, packet).ps == 1'000 * kByte);
  CHECK(fabric.send(events, {}, {}, packet).ps == 2'000 * kByte);
  CHECK(fabric.packets_lost(LossReason::link_down) == 2);
}

TEST_CASE("a link that fails is busy with a packet until then, and with the next one from when it is back") {
  // A packet of 4194 bytes takes 335 ns; the cable fails after 100 and is back 20 later.
  Config config = fast_network(topology::Star{2});
  config.changes = {{.at = {100'000}, .cable = 0, .up = false}, {.at = {120'000}, .cable = 0, .up = true}};
  sim::EventQueue events;
  PacketNetwork fabric(config);
  fabric.start(events);
  const topology::LinkId link = fabric.graph().link(0).from < 2 ? 0 : 1;
  Packet packet;
  packet.source = PortId(fabric.graph().link(link).from);
  packet.destination = PortId(1 - packet.source.index());
  packet.wire = 4'194;
  fabric.send(events, {}, {}, packet);
  for (int change = 0; change < 2; ++change) {
    const sim::Event e = events.pop_earliest();
    fabric.handle(events, e.at, e);
  }
  fabric.send(events, {120'000}, {}, packet);
  std::int64_t there = 0;
  while (!events.empty()) {
    const sim::Event e = events.pop_earliest();
    if (fabric.handle(events, e.at, e)) there = e.at.ps;
  }
  CHECK(there == 120'000 + (64 + 4'194) * kByte + 2 * 1'000'000 + 300'000);
  CHECK(fabric.packets_delivered() == 1);
  CHECK(fabric.counters(link).busy.ps == 100'000 + 4'194 * kByte);
}

TEST_CASE("what cannot be built is refused") {
  Config config = fast_network(topology::Star{2});
  config.changes = {{.at = {0}, .cable = 2, .up = false}};
  CHECK_THROWS_AS(PacketNetwork(config), std::invalid_argument);
  config.changes.clear();
  config.nodes = 3;
  CHECK_THROWS_AS(PacketNetwork(config), std::invalid_argument);
  config = fast_network(topology::Star{64});
  config.options.flow_control = FlowControl::pfc;
  config.options.buffer_size = sim::Bytes{1'000'000};
  CHECK_THROWS_AS(PacketNetwork(config), std::invalid_argument);
  config = fast_network(topology::Star{2});
  config.options.flow_control = FlowControl::pfc;
  CHECK_NOTHROW(PacketNetwork(config));
  config.link_rate = {};  // what arrives until a pause works has no bound
  CHECK_THROWS_AS(PacketNetwork(config), std::invalid_argument);
}
