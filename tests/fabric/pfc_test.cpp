// PFC: nothing is lost, the bottleneck never idles, what is paused and when in closed form, and head-of-line blocking.

#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

Config pfc_network(const topology::Parameters& shape) {
  Config config = fast_network(shape);
  config.options.flow_control = FlowControl::pfc;
  return config;
}

std::uint64_t wire_bytes(std::uint64_t message) {
  const std::uint64_t packets = (message + Traffic::kMtu - 1) / Traffic::kMtu;
  return message + packets * Traffic::kOverhead + kRethBytes;
}

topology::LinkId link_between(const PacketNetwork& fabric, std::string_view from, std::string_view to) {
  const topology::Topology& g = fabric.graph();
  for (topology::LinkId id = 0; id < fabric.links(); ++id) {
    if (g.name(g.link(id).from) == from && g.name(g.link(id).to) == to) return id;
  }
  FAIL("no such link");
  return 0;
}

}  // namespace

TEST_CASE("incast on a star: lossless, and the receiver's link never idles") {
  const std::uint32_t senders = GENERATE(2U, 7U, 31U);
  Config config = pfc_network(topology::Star{senders + 1});
  config.options.buffer_size = sim::Bytes{2'000'000};  // much less than the messages together
  Traffic traffic(config, incast(senders + 1, senders, 400'000));
  traffic.run();
  CHECK(traffic.all_delivered());
  CHECK(traffic.fabric().packets_lost(LossReason::buffer_full) == 0);
  // The first headers reach the switch after 64 bytes and the link; from then on the last link is always busy.
  const std::int64_t first = 64 * kByte + 1'000'000 + 300'000;
  const auto all = static_cast<std::int64_t>(senders * wire_bytes(400'000));
  CHECK(traffic.end().ps == first + all * kByte + 1'000'000);
  if (senders > 7) CHECK(totals(traffic.fabric()).pauses > 0);
}

TEST_CASE("127:1 incast of 2 MB on a fat tree of k = 8 ends within 3 % of 20.53 ms") {
  Config config = pfc_network(topology::FatTree{8});
  config.options.routing = Routing::ecmp;
  Traffic traffic(config, incast(128, 127, 2'000'000));
  traffic.run();
  CHECK(traffic.all_delivered());
  CHECK(traffic.end().ps > 19'914'000'000);
  CHECK(traffic.end().ps < 21'146'000'000);
  // Work conservation: all of it through one link, and the way of the first packet, whose hosts share the edge switch.
  const std::int64_t least = static_cast<std::int64_t>(127 * wire_bytes(2'000'000)) * kByte;
  CHECK(traffic.end().ps - least < 20'000'000);
}

TEST_CASE("a switch pauses the link whose packets exceed the threshold, and resumes it when they have left") {
  // Two senders; the fixed threshold is passed by the k-th packet of each that is held.
  Config config = pfc_network(topology::Star{3});
  config.options.pfc_xoff = sim::Bytes{50'000};
  config.options.pfc_xon_gap = sim::Bytes{10'000};
  Traffic traffic(config, incast(3, 2, 1'000'000));
  const topology::LinkId out = link_between(traffic.fabric(), "s0", "h0");
  const topology::LinkId in = link_between(traffic.fabric(), "h1", "s0");
  traffic.run();
  CHECK(traffic.all_delivered());
  const LinkCounters& c = traffic.fabric().counters(in);
  CHECK(c.pauses > 1);
  CHECK(c.paused.ps > 0);
  // Per ingress: the threshold, one packet beyond it, and what the link delivers until the pause works: two delays,
  // a packet in the way of the pause frame, the frame, a packet that has just begun.
  const std::uint64_t flight = 2 * 1'000'000 / kByte + 2 * 4194 + kPauseBytes;
  CHECK(traffic.fabric().counters(out).queue_max <= 2 * (50'000 + 4194 + flight));
  CHECK(traffic.fabric().counters(out).queue_max > 2 * 50'000);
}

TEST_CASE("the moment of the first pause in closed form") {
  // h1 and h2 send to h0; packets of 4178 wire bytes (the first 4194) take 334,240 ps (335,520). Threshold 20,000.
  Config config = pfc_network(topology::Star{3});
  config.options.pfc_xoff = sim::Bytes{20'000};
  Traffic traffic(config, incast(3, 2, 1'000'000));
  const topology::LinkId in2 = link_between(traffic.fabric(), "h2", "s0");
  while (traffic.fabric().counters(in2).pauses == 0 && traffic.step()) {
  }
  // Packets of both senders arrive in pairs, at 64 bytes + 1 us + k packet times; h1's is queued in front of h2's. The
  // port starts the first 300 ns later, then one each packet time, of the two in turn. When h2's n-th arrives, those
  // that have started by then are not held any more.
  const std::int64_t first = 64 * kByte + 1'000'000;
  std::int64_t expected = 0;
  for (std::int64_t n = 1; expected == 0; ++n) {
    const std::int64_t arrival = first + ((n - 1) * 4178 + (n > 1 ? 16 : 0)) * kByte;
    std::int64_t started = 0;
    for (std::int64_t m = 1; m < n; ++m) {  // in front of h2's m-th: m of h1 and m - 1 of h2
      const std::int64_t bytes = (2 * m - 1) * 4178 + (m > 1 ? 32 : 16);
      if (first + 300'000 + bytes * kByte <= arrival) ++started;
    }
    if ((n - started) * 4178 + (started == 0 ? 16 : 0) > 20'000) expected = arrival;
  }
  CHECK(traffic.now().ps == expected);
}

TEST_CASE("the moment of the first pause by a dynamic threshold, in closed form") {
  // As above, but the threshold is half of what is free of the part that is not kept for single ports, and no less than
  // what is kept for a port: so a port may hold that much even where nothing is free.
  const auto [shared, reserved] =
      GENERATE(table<std::int64_t, std::int64_t>({{100'000, 1'000}, {100'000, 33'000}, {10'000, 33'000}}));
  CAPTURE(shared, reserved);
  constexpr std::int64_t kHeadroom = 50'000;
  Config config = pfc_network(topology::Star{3});
  config.options.buffer_alpha = 500;
  config.options.pfc_headroom = sim::Bytes{kHeadroom};
  config.options.pfc_reserved = sim::Bytes{static_cast<std::uint64_t>(reserved)};
  config.options.buffer_size = sim::Bytes{static_cast<std::uint64_t>(shared + 3 * (kHeadroom + reserved))};
  Traffic traffic(config, incast(3, 2, 1'000'000));
  const topology::LinkId in2 = link_between(traffic.fabric(), "h2", "s0");
  while (traffic.fabric().counters(in2).pauses == 0 && traffic.step()) {
  }
  // What is held of h1 and of h2 when h2's n-th packet arrives. The first of each has 16 bytes more.
  const std::int64_t first = 64 * kByte + 1'000'000;
  std::int64_t expected = 0;
  for (std::int64_t n = 1; expected == 0; ++n) {
    const std::int64_t arrival = first + ((n - 1) * 4178 + (n > 1 ? 16 : 0)) * kByte;
    const auto left = [&](std::int64_t packets_before) {  // of both, each behind the one before it
      const std::int64_t bytes = packets_before * 4178 + 16 * std::min<std::int64_t>(packets_before, 2);
      return first + 300'000 + bytes * kByte <= arrival;
    };
    std::int64_t held1 = 0;
    std::int64_t held2 = 0;
    for (std::int64_t m = 1; m <= n; ++m) {
      const std::int64_t bytes = 4178 + (m == 1 ? 16 : 0);
      if (!left(2 * m - 2)) held1 += bytes;
      if (!left(2 * m - 1)) held2 += bytes;
    }
    if (held2 > std::max(reserved, (shared - held1 - held2) / 2)) expected = arrival;
  }
  CHECK(traffic.now().ps == expected);
}

namespace {

/// Two senders to host 0, and host 0 to host 2, whose link carries the frames that pause the first of them as well.
Traffic with_traffic_back(const Config& config, std::uint64_t bytes_back) {
  std::vector<Flow> flows = incast(3, 2, 1'000'000);
  if (bytes_back > 0) flows.push_back({.source = 0, .destination = 2, .bytes = bytes_back});
  return {config, flows, 0};
}

bool is_paused(const Traffic& traffic, topology::LinkId link) {
  const std::vector<topology::LinkId> links = traffic.fabric().paused_links();
  return std::find(links.begin(), links.end(), link) != links.end();
}

}  // namespace

TEST_CASE("a pause frame waits for the packet that is being sent, takes 84 bytes of the link, and its delay") {
  Config config = pfc_network(topology::Star{3});
  config.options.pfc_xoff = sim::Bytes{20'000};
  config.delivery_latency = 50_ns;  // of packets, not of frames
  const bool idle = GENERATE(true, false);
  Traffic traffic = with_traffic_back(config, idle ? 0 : 1'000'000);
  const topology::LinkId in2 = link_between(traffic.fabric(), "h2", "s0");
  const topology::LinkId out2 = link_between(traffic.fabric(), "s0", "h2");
  while (traffic.fabric().counters(in2).pauses == 0 && traffic.step()) {
  }
  const std::int64_t decided = traffic.now().ps;
  while (!is_paused(traffic, in2) && traffic.step()) {
  }
  // Without traffic back at once. With it, packets begin on that link one packet time after the other, from when the
  // headers of the first have passed the switch; the first has 16 bytes more.
  std::int64_t begins = decided;
  if (!idle) {
    begins = 64 * kByte + 1'000'000 + 300'000;
    for (std::int64_t bytes = 4194; begins < decided; bytes = 4178) begins += bytes * kByte;
  }
  CHECK(traffic.now().ps == begins + 84 * kByte + 1'000'000);
  CHECK(traffic.fabric().counters(out2).pauses == 0);
}

TEST_CASE("pause frames take link time: what goes the same way ends so much later, and the link is so much busier") {
  // The traffic back fills its link, goes on for longer than the incast, and so waits for every frame, two a pause.
  Config config = pfc_network(topology::Star{3});
  config.options.pfc_xoff = sim::Bytes{20'000};
  Traffic traffic = with_traffic_back(config, 4'000'000);
  const topology::LinkId in2 = link_between(traffic.fabric(), "h2", "s0");
  const topology::LinkId out2 = link_between(traffic.fabric(), "s0", "h2");
  sim::Duration paused{};
  sim::SimTime since{};
  for (bool before = false; traffic.step(); before = is_paused(traffic, in2)) {
    const bool now = is_paused(traffic, in2);
    if (now && !before) since = traffic.now();
    if (before && !now) paused += traffic.now() - since;
  }
  CHECK(traffic.all_delivered());
  const LinkCounters& c = traffic.fabric().counters(in2);
  CHECK(c.pauses > 10);
  CHECK(c.paused == paused);
  const auto frames = static_cast<std::int64_t>(2 * c.pauses) * 84 * kByte;
  const std::int64_t packets = static_cast<std::int64_t>(wire_bytes(4'000'000)) * kByte;
  CHECK(traffic.flows()[2].last_delivery.ps == 64 * kByte + 1'000'000 + 300'000 + packets + 1'000'000 + frames);
  CHECK(traffic.fabric().counters(out2).busy.ps == packets + frames);
  CHECK(traffic.fabric().counters(out2).bytes == wire_bytes(4'000'000));
}

TEST_CASE("a host's port that goes on has all that waits there to send before the next packet") {
  // 100 packets lie at each of two ports from the beginning; the network does not hold back who fills a port.
  Config config = pfc_network(topology::Star{3});
  config.options.pfc_xoff = sim::Bytes{6'000};
  PacketNetwork fabric(config);
  sim::EventQueue events;
  Packet packet;
  packet.wire = 4'000;
  for (int i = 0; i < 200; ++i) {
    packet.source = PortId(1 + static_cast<std::uint32_t>(i % 2));
    fabric.send(events, {}, {}, packet);
  }
  const topology::LinkId link = link_between(fabric, "h2", "s0");
  sim::SimTime now;
  std::uint64_t waiting = 0;
  while (fabric.counters(link).paused.ps == 0 && !events.empty()) {
    waiting = fabric.queued(link, now);
    const sim::Event e = events.pop_earliest();
    now = e.at;
    fabric.handle(events, now, e);
  }
  REQUIRE(waiting > 0);
  packet.source = PortId(2);
  CHECK(fabric.send(events, now, {}, packet).ps == now.ps + static_cast<std::int64_t>(waiting + 4'000) * kByte);
}

TEST_CASE("with headroom enough, alpha drops nothing: it is for pauses") {
  // A hundredth of the buffer is less than the threshold; the headroom is what the documentation says, rounded up.
  Config config = pfc_network(topology::Star{3});
  config.options.buffer_alpha = 10;
  config.options.pfc_xoff = sim::Bytes{50'000};
  config.options.pfc_headroom = sim::Bytes{2 * 12'500 + 3 * 4224 + 84};
  config.options.buffer_size = sim::Bytes{1'000'000};
  CHECK(config.buffers_overflow());
  Traffic traffic(config, incast(3, 2, 1'000'000));
  traffic.run();
  CHECK(traffic.all_delivered());
}

TEST_CASE("a link is paused above the threshold, and resumed at it less the gap, to the byte") {
  // What is held of a sender, but for its first packet, is a number of packets of 4178 bytes; so are the threshold and
  // the gap here. A byte more of either is then no other packet; a byte less of the threshold, or more of the gap, is.
  const auto run = [](std::uint64_t xoff, std::uint64_t gap) {
    Config config = pfc_network(topology::Star{3});
    config.options.pfc_xoff = sim::Bytes{xoff};
    config.options.pfc_xon_gap = sim::Bytes{gap};
    Traffic traffic(config, incast(3, 2, 400 * 4096));
    traffic.run();
    return traffic.fabric().counters(link_between(traffic.fabric(), "h2", "s0"));
  };
  constexpr std::uint64_t kXoff = 8 * 4178;
  constexpr std::uint64_t kGap = 3 * 4178;
  const LinkCounters exact = run(kXoff, kGap);
  CHECK(exact.pauses > 1);
  CHECK(run(kXoff + 1, kGap + 1) == exact);
  CHECK_FALSE(run(kXoff - 1, kGap - 1) == exact);
  CHECK(run(kXoff, kGap - 1) == exact);
  CHECK_FALSE(run(kXoff, kGap + 1) == exact);
}

TEST_CASE("head-of-line blocking: a paused link holds up what is not for the bottleneck; without PFC it is not") {
  // Two leaves. h0 and h1 share the leaf's one uplink. h0, and h4 to h7, send to h8 below the other leaf; h1 to h9.
  topology::LeafSpine shape{.leaves = 3, .spines = 1, .hosts_per_leaf = 4};
  const auto victim_time = [&](FlowControl flow_control) {
    Config config = fast_network(shape);
    config.options.flow_control = flow_control;
    config.options.pfc_xoff = sim::Bytes{40'000};
    std::vector<Flow> flows = {{.source = 1, .destination = 9, .bytes = 1'000'000},
                               {.source = 0, .destination = 8, .bytes = 1'000'000}};
    for (NodeId h = 10; h < 12; ++h) flows.push_back({.source = h, .destination = 8, .bytes = 4'000'000});
    Traffic traffic(config, flows);
    traffic.run();
    REQUIRE(traffic.all_delivered());
    return traffic.flows()[0].last_delivery.ps;
  };
  // Alone with h0 on the uplink the victim gets half of it: twice 1 MB.
  const std::int64_t fair = 2 * static_cast<std::int64_t>(wire_bytes(1'000'000)) * kByte;
  CHECK(victim_time(FlowControl::unlimited) < fair + 10'000'000);
  // With PFC it shares h0's fate: a third of the bottleneck for h0, so 3 MB in the time of the victim's one.
  CHECK(victim_time(FlowControl::pfc) > fair * 5 / 4);
}

TEST_CASE("adaptive routing sends nothing to a paused port while another one is not paused") {
  // Two ways from s0 to s3, one of them slow behind its first cable, which is paused again and again.
  const sim::BitsPerSecond slow = 1_Gbps;
  Config config = pfc_network(topology::Custom{
      .hosts = 3, .switches = 4, .edges = {{0, 3}, {1, 3}, {2, 6}, {3, 4}, {3, 5}, {4, 6, slow}, {5, 6}}});
  config.options.routing = Routing::adaptive;
  config.options.pfc_xoff = sim::Bytes{9'000};
  config.switch_latency = 0_ns;
  Traffic traffic(config, {{.source = 0, .destination = 2, .bytes = 1'000'000},
                           {.source = 1, .destination = 2, .bytes = 1'000'000}});
  const topology::LinkId to_slow = link_between(traffic.fabric(), "s0", "s1");
  const topology::LinkId to_fast = link_between(traffic.fabric(), "s0", "s2");
  const auto paused = [&](topology::LinkId link) {
    const std::vector<topology::LinkId> links = traffic.fabric().paused_links();
    return std::find(links.begin(), links.end(), link) != links.end();
  };
  std::uint64_t waiting = 0;
  std::uint64_t looks = 0;
  bool before = false;
  while (traffic.step()) {
    const bool now = paused(to_slow) && !paused(to_fast);
    const std::uint64_t queued = traffic.fabric().queued(to_slow, traffic.now());
    if (now && before) {
      ++looks;
      CHECK(queued <= waiting);
    }
    before = now;
    waiting = queued;
  }
  CHECK(traffic.all_delivered());
  CHECK(looks > 1'000);
}

TEST_CASE("ingress ports of a paused switch share the bottleneck evenly") {
  Config config = pfc_network(topology::Star{5});
  config.options.pfc_xoff = sim::Bytes{60'000};
  Traffic traffic(config, incast(5, 4, 4'000'000));
  const sim::SimTime half{static_cast<std::int64_t>(2 * wire_bytes(4'000'000)) * kByte};
  while (traffic.next_time() < half) traffic.step();
  for (const FlowState& f : traffic.flows()) {
    CHECK(f.delivered > 2'000'000 * 95 / 100);
    CHECK(f.delivered < 2'000'000 * 105 / 100);
  }
}

TEST_CASE("the headroom that is worked out suffices, whatever the links and the threshold") {
  const std::int64_t delay = GENERATE(0, 50'000, 1'000'000, 20'000'000);
  const std::uint64_t rate = GENERATE(10'000'000'000U, 56'000'000'000U, 400'000'000'000U);
  const auto switching = GENERATE(Switching::cut_through, Switching::store_and_forward);
  Config config = pfc_network(topology::LeafSpine{.leaves = 2, .spines = 2, .hosts_per_leaf = 6});
  config.link_rate = {rate};
  config.link_delay = {delay};
  config.options.switching = switching;
  config.options.pfc_xoff = sim::Bytes{9'000};
  config.options.pfc_xon_gap = sim::Bytes{0};
  // As little buffer as is accepted: what the message says.
  config.options.buffer_size = sim::Bytes{1'000};
  std::uint64_t least = 0;
  try {
    const PacketNetwork fabric(config);
  } catch (const std::invalid_argument& e) {
    const std::string what = e.what();
    least = std::stoull(what.substr(what.find("needs ") + 6));
  }
  // For each port: what the link carries in two delays, rounded up to a byte, three packets, a frame, the threshold.
  const topology::Topology graph = topology::build(config.shape);
  const std::uint64_t ports = graph.ports(graph.switch_vertex(0)).size();
  const std::uint64_t flight = 2 * static_cast<std::uint64_t>(delay) * (rate / 1'000'000) / 8'000'000;
  const std::uint64_t kept = ports * (flight + 3 * config.packet_max.count + 84 + 9'000);
  CHECK(least > kept);
  CHECK(least <= kept + ports + 1);
  config.options.buffer_size = sim::Bytes{least - 1};
  CHECK_THROWS_AS(PacketNetwork(config), std::invalid_argument);
  config.options.buffer_size = sim::Bytes{least};
  Traffic traffic(config, incast(12, 11, 300'000));
  traffic.run();
  CHECK(traffic.all_delivered());
  CHECK(totals(traffic.fabric()).pauses > 0);
  CHECK(traffic.fabric().packets_lost(LossReason::buffer_full) == 0);
}

TEST_CASE("too little headroom loses packets: the pause comes too late") {
  Config config = pfc_network(topology::Star{9});
  config.options.pfc_headroom = sim::Bytes{1'000};
  config.options.pfc_xoff = sim::Bytes{5'000};
  config.options.buffer_size = sim::Bytes{60'000};
  Traffic traffic(config, incast(9, 8, 300'000));
  traffic.run();
  CHECK(traffic.fabric().packets_lost(LossReason::buffer_full) > 0);
  CHECK_FALSE(traffic.all_delivered());
}

TEST_CASE("links that wait for each other stop for good, and that shows") {
  // A ring of 6: every host sends to the one three further on, all clockwise or split; buffers are tiny.
  Config config = pfc_network(topology::Ring{6});
  config.options.pfc_xoff = sim::Bytes{9'000};
  config.options.buffer_size = sim::Bytes{250'000};
  std::vector<Flow> flows;
  for (NodeId h = 0; h < 6; ++h) flows.push_back({.source = h, .destination = (h + 2) % 6, .bytes = 2'000'000});
  Traffic traffic(config, flows);
  traffic.run();
  CHECK_FALSE(traffic.all_delivered());
  CHECK(traffic.idle());
  CHECK(traffic.fabric().paused_links().size() >= 6);
  CHECK(traffic.fabric().packets_inside() > 0);
}

namespace {
/// Rings of n switches with a host each, all of whose hosts send two further on: the only cycle there can be is the
/// ring, each of its links waiting for the next.
Traffic stuck_ring(std::uint32_t n) {
  Config config = pfc_network(topology::Ring{n});
  config.options.pfc_xoff = sim::Bytes{9'000};
  config.options.buffer_size = sim::Bytes{250'000};
  std::vector<Flow> flows;
  for (NodeId h = 0; h < n; ++h) flows.push_back({.source = h, .destination = (h + 2) % n, .bytes = 2'000'000});
  return {config, flows};
}
}  // namespace

TEST_CASE("the cycle of a deadlock is the ring, link by link") {
  for (const std::uint32_t n : {5U, 6U, 9U, 20U}) {
    Traffic traffic = stuck_ring(n);
    traffic.run();
    const PacketNetwork& fabric = traffic.fabric();
    const std::vector<topology::LinkId> cycle = pause_cycle(fabric);
    REQUIRE(cycle.size() == n);
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const topology::Link& link = fabric.graph().link(cycle[i]);
      CHECK_FALSE(fabric.graph().is_host(link.from));
      CHECK(link.to == fabric.graph().link(cycle[(i + 1) % n]).from);
    }
    const std::string text = cycle_text(fabric, cycle);
    CHECK(text.find(" waits for ") != std::string::npos);
    CHECK((text.find(" more, the last of them for ") != std::string::npos) == (n > 16));
  }
}

TEST_CASE("links that wait without a cycle are no deadlock") {
  // 8:1 through two tiers, on a tree: links are paused all the time, and each wait ends at the receiver.
  Config config = pfc_network(topology::LeafSpine{.leaves = 3, .spines = 1, .hosts_per_leaf = 4});
  config.options.pfc_xoff = sim::Bytes{9'000};
  Traffic traffic(config, incast(12, 11, 300'000));
  bool paused = false;
  while (traffic.step()) {
    const bool now = !traffic.fabric().paused_links().empty();
    if (now) REQUIRE(pause_cycle(traffic.fabric()).empty());
    paused = paused || now;
  }
  CHECK(paused);
  CHECK(traffic.all_delivered());
}
