// Drop-tail thresholds, ECN marks, and DCQCN: the state machine by hand, and what it does to an incast.
#include <cmath>

#include "fabric/congestion/dcqcn.hpp"
#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

/// Two senders to host 0 of a star; the last link's queue grows by a packet a packet time.
Config lossy() {
  Config config = fast_network(topology::Star{3});
  config.options.flow_control = FlowControl::drop_tail;
  return config;
}

}  // namespace

TEST_CASE("drop-tail: a queue takes alpha times the free buffer") {
  Config config = lossy();
  config.options.buffer_size = sim::Bytes{100'000};
  config.options.buffer_alpha = GENERATE(250U, 1000U, 4000U);
  Traffic traffic(config, incast(3, 2, 4'000'000), 0);
  traffic.run();
  CHECK(traffic.fabric().packets_lost(LossReason::buffer_full) > 0);
  // One queue in use: q <= alpha (B - q), so q <= B alpha / (1 + alpha), and it comes within a packet of that. The
  // packet itself is counted, the free part before it: q + p <= alpha (B - q). A packet joins the queue 300 ns after
  // the decision: the one before it, 334 ns for each of two senders, may join in between.
  const auto alpha = static_cast<double>(config.options.buffer_alpha) / 1000;
  const double most = (100'000 * alpha + 4194 * alpha) / (1 + alpha);
  const auto high = static_cast<double>(totals(traffic.fabric()).queue_max);
  CHECK(high <= std::min(most + 4194, 100'000.0));
  CHECK(high > std::min(most, 100'000.0) - 2 * 4194);
}

TEST_CASE("drop-tail: what fills the buffer, or comes up to the threshold, to the byte still fits") {
  // A packet of 4096 + 82 + 16 bytes, alone. The threshold is half of the buffer, of which nothing is used.
  Config config = lossy();
  std::uint64_t just = 4194;
  SECTION("the buffer") { config.options.buffer_alpha = 4000; }
  SECTION("the threshold") {
    config.options.buffer_alpha = 500;
    just *= 2;
  }
  for (const std::uint64_t size : {just, just - 1}) {
    config.options.buffer_size = sim::Bytes{size};
    Traffic traffic(config, {{.source = 1, .destination = 0, .bytes = 4096}}, 0);
    traffic.run();
    CHECK(traffic.fabric().packets_lost(LossReason::buffer_full) == (size == just ? 0U : 1U));
  }
}

TEST_CASE("what is delivered and what is dropped is what was sent") {
  Config config = lossy();
  config.options.buffer_size = sim::Bytes{60'000};
  Traffic traffic(config, incast(3, 2, 4'000'000), 0);
  traffic.run();
  const std::uint64_t packets = 2 * ((4'000'000 + 4095) / 4096);
  const PacketNetwork& f = traffic.fabric();
  CHECK(f.packets_delivered() + f.packets_lost(LossReason::buffer_full) == packets);
  CHECK(f.packets_inside() == 0);
  CHECK(totals(f).drops == f.packets_lost(LossReason::buffer_full));
}

TEST_CASE("ECN: no mark up to kmin, every packet from kmax on, in between as often as RED says") {
  Config config = fast_network(topology::Star{3});
  config.options.ecn = true;
  SECTION("never") {
    config.options.ecn_kmin = config.options.ecn_kmax = sim::Bytes{100'000'000};
    Traffic traffic(config, incast(3, 2, 2'000'000));
    traffic.run();
    CHECK(totals(traffic.fabric()).marks == 0);
  }
  SECTION("a step: all that find more than k") {
    config.options.ecn_kmin = config.options.ecn_kmax = sim::Bytes{100'000};
    Traffic traffic(config, {{.source = 1, .destination = 0, .bytes = 2'000'000},
                             {.source = 2, .destination = 0, .bytes = 2'000'000}});
    traffic.run();
    // The queue grows by a packet with each pair, until 489 pairs are in, then it falls; each pair's n-th packets find
    // about n packets of 4178 waiting. Marked: n > 100,000 / 4178 = 23.9 of both, give or take one.
    const auto marks = static_cast<std::int64_t>(totals(traffic.fabric()).marks);
    CHECK(std::abs(marks - 2 * (489 - 24)) <= 3);
    CHECK(traffic.flows()[0].marked + traffic.flows()[1].marked == static_cast<std::uint32_t>(marks));
  }
  SECTION("the slope") {
    // A queue of q is marked with probability pmax (q - kmin) / (kmax - kmin): 0 to pmax while it grows from 0 to
    // 489 packets = 2.04 MB; over all 978 packets pmax / 2 on average.
    config.options.ecn_kmin = sim::Bytes{0};
    config.options.ecn_kmax = sim::Bytes{489 * 4178};
    config.options.ecn_pmax = 500;
    double marks = 0;
    constexpr int kRuns = 40;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      config.seed = seed;
      Traffic traffic(config, incast(3, 2, 2'000'000));
      traffic.run();
      marks += static_cast<double>(totals(traffic.fabric()).marks);
    }
    // 978 * 1/4 = 244.5 a run; the standard deviation of the mean of 40 runs is below sqrt(978 / 4 / 40) = 2.5.
    CHECK(std::abs(marks / kRuns - 244.5) < 4 * 2.5);
  }
}

TEST_CASE("ECN: a packet that finds kmax waiting is marked, one that finds a byte less has RED's chance") {
  // Three packets of 4194 bytes come at once and are ready 300 ns later: one leaves, two wait for 335 ns. The fourth
  // comes when they become ready, or 100 ns later.
  const sim::SimTime start = GENERATE(sim::SimTime{300'000}, sim::SimTime{400'000});
  Config config = fast_network(topology::Star{5});
  config.options.ecn = true;
  config.options.ecn_kmin = sim::Bytes{0};
  config.options.ecn_pmax = 0;
  for (const std::uint64_t more : {0U, 1U}) {
    config.options.ecn_kmax = sim::Bytes{2 * 4194 + more};
    std::vector<Flow> flows = incast(5, 4, 4096);
    flows.back().start = start;
    Traffic traffic(config, flows, 0);
    traffic.run();
    CHECK(totals(traffic.fabric()).marks == 1 - more);
    CHECK(traffic.flows().back().marked == 1 - more);
  }
}

TEST_CASE("ECN: the chance of a mark rises from kmin, not from 0") {
  // As above, the fourth packet finds 2 * 4194 bytes: 1,000 more than kmin, a quarter of the way to kmax. With pmax 1
  // it is marked in a quarter of 1,000 runs: 250, with a standard deviation of 13.7.
  Config config = fast_network(topology::Star{5});
  config.options.ecn = true;
  config.options.ecn_kmin = sim::Bytes{2 * 4194 - 1'000};
  config.options.ecn_kmax = sim::Bytes{2 * 4194 + 3'000};
  config.options.ecn_pmax = 1'000;
  std::vector<Flow> flows = incast(5, 4, 4096);
  flows.back().start = {400'000};
  std::uint64_t marks = 0;
  for (config.seed = 1; config.seed <= 1'000; ++config.seed) {
    Traffic traffic(config, flows, 0);
    traffic.run();
    marks += totals(traffic.fabric()).marks;
  }
  CHECK(std::abs(static_cast<double>(marks) - 250) < 4 * 13.7);
}

namespace {
/// One flow through a switch whose pipeline holds 1 us / 334 ns, three, packets: at one rate throughout nobody waits.
Config long_pipeline() {
  Config config = fast_network(topology::Star{2});
  config.switch_latency = 1_us;
  return config;
}
}  // namespace

TEST_CASE("what is in a switch's pipeline is no queue: without waiting no mark, no queue, no drop") {
  Config config = long_pipeline();
  SECTION("ECN") {
    config.options.ecn = true;
    config.options.ecn_kmin = config.options.ecn_kmax = sim::Bytes{0};
  }
  SECTION("drop-tail") {
    // A tenth of what is free: with three packets of 4178 B in the buffer 8.7 kB, enough for one and not for four.
    config.options.flow_control = FlowControl::drop_tail;
    config.options.buffer_size = sim::Bytes{100'000};
    config.options.buffer_alpha = 100;
  }
  config.options.variation = Variation::none;  // a host's faster clock would make a queue
  Traffic traffic(config, {{.source = 1, .destination = 0, .bytes = 2'000'000}});
  std::uint64_t queued = 0;
  while (traffic.step()) {
    for (topology::LinkId link = 0; link < traffic.fabric().links(); ++link)
      queued = std::max(queued, traffic.fabric().queued(link, traffic.now()));
  }
  CHECK(traffic.all_delivered());
  CHECK(queued == 0);
  const LinkCounters all = totals(traffic.fabric());
  CHECK(all.queue_max == 0);
  CHECK(all.marks == 0);
  CHECK(all.drops == 0);
}

TEST_CASE("the longest queue is that of packets that are ready: behind two senders, half of what one sends") {
  // Two packets a packet time come, one leaves: when the last pair is ready, the 489 pairs have brought 978 packets and
  // 488 have begun to leave; the pipeline's share (three packets) does not count.
  Config config = fast_network(topology::Star{3});
  config.switch_latency = 1_us;
  Traffic traffic(config, incast(3, 2, 2'000'000));
  traffic.run();
  const auto longest = static_cast<double>(totals(traffic.fabric()).queue_max) / 4178;
  CHECK(longest > 486.0);
  CHECK(longest < 491.0);
}

TEST_CASE("the longest queue counts what waits behind the packet that is being sent, though nobody looks meanwhile") {
  // Three packets of 4194 bytes are ready at once: two wait while the first is sent, for 335 ns.
  Config config = fast_network(topology::Star{4});
  SECTION("and then leaves") {}
  SECTION("until the link fails") {
    const std::int64_t ready = 64 * kByte + 1'000'000 + 300'000;
    config.changes = {{.at = {ready + 100'000}, .cable = 0, .up = false}};
  }
  Traffic traffic(config, incast(4, 3, 4096), 0);
  const topology::Link& first = traffic.fabric().graph().link(0);
  REQUIRE((first.from == 0 || first.to == 0));
  traffic.run();
  CHECK(totals(traffic.fabric()).queue_max == 2 * 4194);
}

TEST_CASE("ECN: ACKs and CNPs are not marked, however long they wait (RoCE v2: not ECN-capable)") {
  // Every packet that waits is marked. Hosts 1 and 2 fill the port to host 0, whose ACKs meet the data of host 3 for
  // host 1: marks are data's alone.
  Config config = fast_network(topology::Star{4});
  config.options.ecn = true;
  config.options.ecn_kmin = config.options.ecn_kmax = sim::Bytes{0};
  config.options.dcqcn.enabled = true;
  Traffic traffic(config, {{.source = 1, .destination = 0, .bytes = 2'000'000},
                           {.source = 2, .destination = 0, .bytes = 2'000'000},
                           {.source = 3, .destination = 1, .bytes = 2'000'000},
                           {.source = 0, .destination = 1, .bytes = 2'000'000}});
  traffic.run();
  std::uint64_t data = 0;
  for (const FlowState& flow : traffic.flows()) data += flow.marked;
  CHECK(data > 0);
  CHECK(totals(traffic.fabric()).marks == data);
}

TEST_CASE("DCQCN by hand") {
  const DcqcnOptions o;
  Dcqcn d(100_Gbps);
  const auto us = [](std::int64_t n) { return sim::SimTime{n * 1'000'000}; };
  // The first cut: alpha is 1, so the rate halves; alpha stays 1.
  d.on_cnp(us(0), o);
  CHECK(d.rate() == 50_Gbps);
  CHECK(d.target() == 100_Gbps);
  CHECK(d.alpha() == Dcqcn::kOne);
  // After 55 us alpha decays by 1/256 (g), and fast recovery goes half of the way back.
  d.on_timer(us(55), o);
  CHECK(d.alpha() == Dcqcn::kOne - Dcqcn::kOne / 256);
  CHECK(d.rate() == 75_Gbps);
  // 87.5, 93.75, 96.875: four in all before F = 5.
  d.on_timer(us(4 * 55), o);
  CHECK(d.rate() == sim::BitsPerSecond{96'875'000'000});
  CHECK(d.target() == 100_Gbps);
  // A second cut: the target is the rate that it had.
  d.on_cnp(us(221), o);
  CHECK(d.target() == sim::BitsPerSecond{96'875'000'000});
  const double alpha = std::pow(255.0 / 256.0, 4);
  CHECK(std::abs(static_cast<double>(d.rate().value) / (96.875e9 * (1 - alpha / 2)) - 1) < 1e-6);
  CHECK(std::abs(static_cast<double>(d.alpha()) / Dcqcn::kOne / (alpha * 255 / 256 + 1.0 / 256) - 1) < 1e-6);
  // Five steps by time: the fifth raises the target by R_AI = 40 Mb/s.
  d.on_timer(us(221 + 5 * 55), o);
  CHECK(d.target() == sim::BitsPerSecond{96'915'000'000});
}

TEST_CASE("DCQCN: bytes count as time does; hyper increase needs both; the rate ends at the line's") {
  DcqcnOptions o;
  o.rate_timer = sim::Duration{1'000'000'000'000};
  o.alpha_timer = o.rate_timer;
  Dcqcn d(100_Gbps);
  for (int i = 0; i < 8; ++i) d.on_cnp({0}, o);
  const sim::BitsPerSecond low = d.rate();
  CHECK(low.value == 100'000'000'000 / 256);
  for (int i = 0; i < 5; ++i) {
    CHECK(d.target().value == low.value * 2);
    d.on_bytes({1}, {10'000'000}, o);
  }
  CHECK(d.target().value == low.value * 2 + 40'000'000);
  // Much later both counters are beyond F: hyper increase, until the line rate is reached and stays.
  for (int i = 0; i < 20; ++i) d.on_bytes({1}, {10'000'000}, o);
  const std::uint64_t before = d.target().value;
  d.on_timer({1'000'000'000'000 * 6}, o);
  // Six increases by time: the first five additive (min is at most 5), the sixth hyper.
  CHECK(d.target().value == before + 5 * 40'000'000 + 400'000'000);
  for (int i = 0; i < 10'000; ++i) d.on_bytes({1'000'000'000'000 * 6}, {10'000'000}, o);
  CHECK(d.rate() == 100_Gbps);
}

TEST_CASE("DCQCN: a CNP comes behind the timers due before it, and both counters begin anew") {
  const DcqcnOptions o;
  const auto us = [](std::int64_t n) { return sim::SimTime{n * 1'000'000}; };
  Dcqcn d(100_Gbps);
  d.on_cnp(us(0), o);
  d.on_cnp(us(60), o);  // 5 us after the rate has gone up from 50 Gb/s
  CHECK(d.target() == 75_Gbps);
  // Less than 10 MB since the CNP: no increase, although it is more since the one before it.
  d.on_bytes(us(61), {9'000'000}, o);
  d.on_cnp(us(62), o);
  const sim::BitsPerSecond cut = d.rate();
  d.on_bytes(us(63), {9'000'000}, o);
  CHECK(d.rate() == cut);
  d.on_bytes(us(63), {1'000'000}, o);
  CHECK(d.rate() > cut);
}

TEST_CASE("DCQCN: alpha goes on decaying at the line's rate, so that a rare CNP cuts little") {
  const DcqcnOptions o;
  Dcqcn d(100_Gbps);
  d.on_cnp({0}, o);
  // 1,000 alpha timers without a CNP; halving the distance to 100 Gb/s takes 36 of them.
  const sim::SimTime later{1'000 * o.alpha_timer.ps};
  d.on_timer(later, o);
  CHECK(d.rate() == 100_Gbps);
  const double alpha = std::pow(255.0 / 256.0, 1'000);
  CHECK(std::abs(static_cast<double>(d.alpha()) / Dcqcn::kOne / alpha - 1) < 1e-4);  // rounded each time
  d.on_cnp(later, o);
  CHECK(std::abs(static_cast<double>(d.rate().value) / (100e9 * (1 - alpha / 2)) - 1) < 1e-6);
}

TEST_CASE("a receiver sends at most one CNP in 50 us") {
  CnpPacer pacer;
  CHECK(pacer.due({0}, 50_us));
  CHECK_FALSE(pacer.due({49'999'999}, 50_us));
  CHECK(pacer.due({50'000'000}, 50_us));
}

TEST_CASE("DCQCN keeps an incast's queue short, at hardly any cost, and spares the pauses") {
  const auto run = [](bool dcqcn) {
    Config config = fast_network(topology::Star{9});
    config.options.flow_control = FlowControl::pfc;
    config.options.ecn = dcqcn;
    config.options.dcqcn.enabled = dcqcn;
    Traffic traffic(config, incast(9, 8, 20'000'000));
    traffic.run();
    REQUIRE(traffic.all_delivered());
    return traffic;
  };
  const Traffic without = run(false);
  const Traffic with = run(true);
  CHECK(totals(without.fabric()).pauses > 0);
  CHECK(totals(with.fabric()).pauses < totals(without.fabric()).pauses / 4);
  std::uint32_t cnps = 0;
  for (const FlowState& f : with.flows()) cnps += f.cnps;
  CHECK(cnps > 0);
}

TEST_CASE("queues are sampled over time without changing the run") {
  Config config = fast_network(topology::Star{3});
  Traffic plain(config, incast(3, 2, 1'000'000));
  Traffic watched(config, incast(3, 2, 1'000'000));
  plain.run();
  topology::LinkId last = 0;
  for (topology::LinkId id = 0; id < watched.fabric().links(); ++id) {
    if (watched.fabric().graph().link(id).to == 0) last = id;
  }
  QueueSeries series({last}, 10_us);
  LinkSeries links(10_us);
  LinkSeries thinned(1_ns);  // more than fit: every second sample is dropped, again and again
  while (!watched.idle()) {
    series.until(watched.fabric(), watched.next_time());
    links.until(watched.fabric(), watched.next_time());
    thinned.until(watched.fabric(), watched.next_time());
    watched.step();
  }
  CHECK(watched == plain);
  CHECK(watched.hash() == plain.hash());
  // Both send at the line rate: after t the queue holds what one of them has sent, less what is on the way (1.3 us).
  const auto& at50 = series.samples().at(5);
  CHECK(at50.at.ps == 50'000'000);
  const double expected = (50'000'000 - 64 * 80 - 1'300'000) / 80.0;
  CHECK(std::abs(static_cast<double>(at50.bytes.at(0)) - expected) < 2.5 * 4194);
  CHECK(links.queued_bytes()[5 * links.links() + last] == at50.bytes[0]);
  // From 1.3 us on the link never pauses: it has been busy for all of the time but that.
  const std::int64_t busy = links.busy_ps()[5 * links.links() + last];
  CHECK(busy > 50'000'000 - 1'400'000);
  CHECK(busy <= 50'000'000);
  CHECK(thinned.busy_ps().size() <= LinkSeries::kSamplesMax * thinned.links());
  REQUIRE(50'000'000 % thinned.interval().ps == 0);
  const auto same = static_cast<std::size_t>(50'000'000 / thinned.interval().ps);
  CHECK(thinned.busy_ps()[same * thinned.links() + last] == busy);
  CHECK(thinned.queued_bytes()[same * thinned.links() + last] == at50.bytes[0]);
}
