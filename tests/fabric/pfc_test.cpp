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

topology::LinkId link_between(const Fabric& fabric, std::string_view from, std::string_view to) {
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
    const Fabric fabric(config);
  } catch (const std::invalid_argument& e) {
    const std::string what = e.what();
    least = std::stoull(what.substr(what.find("needs ") + 6));
  }
  REQUIRE(least > 1'000);
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
