// Congestion controls against the fixed points of their papers, in closed form (docs/congestion.md). Each is worked out
// beside the test; a run is some milliseconds of one port (one_port.hpp).
#include <cmath>

#include "one_port.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::test;
using namespace loco::sim::literals;

namespace {
constexpr sim::SimTime after_us(std::int64_t us) { return {us * 1'000'000}; }

CongestionSettings algorithm(CongestionAlgorithm a) {
  CongestionSettings settings;
  settings.algorithm = a;
  return settings;
}
}  // namespace

// --- HPCC ------------------------------------------------------------------------------------------------------------

TEST_CASE("HPCC: N equal flows use eta + N W_AI / (C T) of the port, without a queue") {
  // Li et al., SIGCOMM 2019: each window is eta C T / N + W_AI when U is what it comes to. 0.95 + 8 * 80 / 150,000.
  OnePort port({.settings = algorithm(CongestionAlgorithm::hpcc), .rate = 100_Gbps, .base = 12_us}, 8);
  port.run(after_us(500), after_us(2'500));
  CHECK(port.utilisation() == Approx(0.954).epsilon(0.015));
  CHECK(port.mean_queue() < 4'000);
}

TEST_CASE("HPCC: windows that cannot fall below W_AI leave a queue of N W_AI - (1 - eta) C T") {
  // 32 * 600 - 7,500 = 16 * 1,200 - 7,500 = 11,700 B. The law is of windows of many packets: these are 4.9 and 10 of
  // 1,024 B on the wire. With 4.6, of 1,106 B, all 32 flows pass from four packets to five and back together.
  const auto [flows, additive] = GENERATE(std::pair{32U, 600U}, std::pair{16U, 1'200U});
  INFO(flows << " flows");
  OnePort::Set set{.settings = algorithm(CongestionAlgorithm::hpcc), .rate = 100_Gbps, .base = 12_us, .payload = 942};
  set.settings.others.hpcc.additive = sim::Bytes{additive};
  OnePort port(set, flows);
  port.run(after_us(1'000), after_us(3'000));
  CHECK(port.mean_queue() == Approx(11'700).epsilon(0.2));
  CHECK(port.utilisation() > 0.98);
}

TEST_CASE("HPCC: two flows that begin with a whole window each leave one of them in the queue at most") {
  OnePort port({.settings = algorithm(CongestionAlgorithm::hpcc), .rate = 100_Gbps, .base = 12_us, .at_once = true}, 2);
  port.run({}, after_us(300));
  CHECK(port.longest_queue() <= 150'000 + 2 * 1'106);
  CHECK(port.longest_queue() > 100'000);  // it is there
}

TEST_CASE("HPCC: unequal windows come together by W := W eta / U + W_AI a round trip") {
  // From 142,500 and 4,096 B of 150,000 with W_AI = 3,750 B: Jain's index after 20 and 50 round trips by that rule is
  // 0.906 and 0.995; packet by packet a little less.
  const auto index_after = [](int round_trips) {
    OnePort::Set set{.settings = algorithm(CongestionAlgorithm::hpcc), .rate = 100_Gbps, .base = 12_us};
    set.settings.others.hpcc.additive = sim::Bytes{3'750};
    set.settings.others.hpcc.max_stage = 0;
    OnePort port(set, 2);
    port.control(0).as<Hpcc>()->set_window(142'500);
    port.control(1).as<Hpcc>()->set_window(4'096);
    port.run({}, after_us(std::int64_t{12} * round_trips));
    return port.fairness_of_windows();
  };
  CHECK(index_after(20) == Approx(0.89).margin(0.04));
  CHECK(index_after(50) == Approx(0.99).margin(0.015));
}

TEST_CASE("HPCC: a hop that another one outdoes decides nothing; U is smoothed over the time between answers") {
  // T = 10 us, 100 Gb/s: C T = 125,000 B. Two answers 5 us apart; hop 0 has sent 50,000 B (0.8) without a queue, hop 1
  // 25,000 B (0.4) with 12,500 B waiting (0.1). U = (1 - 1/2) 1 + 1/2 * 0.8 = 0.9 < eta: additive.
  const HpccOptions options;
  Hpcc hpcc({.line = 100_Gbps, .base_rtt = 10_us});
  Telemetry t{.hops = 2};
  for (PortReport& hop : t.hop) hop.rate = 100_Gbps;
  t.hop[1].queued = 20'000;
  Feedback f{.psn = Psn(0), .next = Psn(100), .telemetry = &t};
  hpcc.on_ack(after_us(0), f, options);
  hpcc.set_window(50'000);
  t.hop[0] = {.at = after_us(5), .sent = 50'000, .queued = 0, .rate = 100_Gbps};
  t.hop[1] = {.at = after_us(5), .sent = 25'000, .queued = 12'500, .rate = 100_Gbps};
  f.psn = Psn(100);
  hpcc.on_ack(after_us(5), f, options);
  CHECK(static_cast<double>(hpcc.utilisation()) / (1U << 30U) == Approx(0.9).epsilon(1e-6));
  CHECK(hpcc.window() == 50'080);
  // 5 us more at line rate and both queues at 12,500: u = 1.1, U = 1.0: W = 50,080 * 0.95 / 1.0 + 80.
  t.hop[0] = {.at = after_us(10), .sent = 50'000, .queued = 0, .rate = 100_Gbps};
  t.hop[1] = {.at = after_us(10), .sent = 87'500, .queued = 12'500, .rate = 100_Gbps};
  f.psn = Psn(200);
  hpcc.on_ack(after_us(10), f, options);
  CHECK(static_cast<double>(hpcc.window()) == Approx(50'080 * 0.95 + 80).margin(2));
  CHECK(hpcc.rate().value == Approx(static_cast<double>(hpcc.window()) * 8 / 10e-6));
}

// --- Swift -----------------------------------------------------------------------------------------------------------

TEST_CASE("Swift: N equal flows hold the round trip where N cwnd MTU = C target(cwnd)") {
  // Target 20 us + 100 us (1/sqrt(w) - 1/sqrt(100)) / (1/sqrt(0.1) - 1/sqrt(100)), packets of 4,178 B: solved here by
  // bisection, 27.0 us and 10.1 packets for 8 flows, 68 us and 0.41 packets for 500.
  const auto fixed_point = [](double flows) {
    const auto target = [](double w) { return 20 + 100 * (1 / std::sqrt(w) - 0.1) / (1 / std::sqrt(0.1) - 0.1); };
    double low = 0.1, high = 100;
    for (int i = 0; i < 60; ++i) {
      const double w = (low + high) / 2;
      (flows * w * 4'178 * 8 / 100e3 < target(w) ? low : high) = w;  // us
    }
    return std::pair{target(low), low};
  };
  OnePort::Set set{
      .settings = algorithm(CongestionAlgorithm::swift), .rate = 100_Gbps, .base = 10_us, .payload = 4'096};
  set.settings.others.swift.hop = sim::Duration{0};
  SECTION("8 flows") {
    const auto [rtt, window] = fixed_point(8);
    CHECK(rtt == Approx(27.0).epsilon(0.01));
    OnePort port(set, 8);
    port.run(after_us(3'000), after_us(8'000));
    CHECK(port.mean_rtt() == Approx(rtt).epsilon(0.12));
    double sum = 0;
    for (std::uint32_t i = 0; i < 8; ++i) sum += static_cast<double>(port.control(i).as<Swift>()->packets());
    CHECK(sum / 8 / (1U << 20U) == Approx(window).epsilon(0.12));
    CHECK(port.utilisation() > 0.99);
  }
  SECTION("500 flows, less than a packet each") {
    const auto [rtt, window] = fixed_point(500);
    CHECK(window == Approx(0.41).epsilon(0.02));
    OnePort port(set, 500);
    port.run(after_us(20'000), after_us(30'000));
    CHECK(port.mean_rtt() == Approx(rtt).epsilon(0.2));
    CHECK(port.utilisation() > 0.95);
  }
}

TEST_CASE("Swift: losses cut once a round trip, the fifth time-out in a row leaves the least window") {
  SwiftOptions options;
  options.first = 100'000;
  Swift swift({.line = 100_Gbps, .base_rtt = 10_us, .packet = {1'250}}, options);
  CHECK(swift.packets() == 100U << 20U);
  swift.on_loss(after_us(1), options);
  CHECK(swift.packets() == 50U << 20U);
  swift.on_loss(after_us(5), options);  // of the same round trip
  CHECK(swift.packets() == 50U << 20U);
  for (int i = 0; i < 4; ++i) swift.on_timeout(after_us(100), options);
  CHECK(swift.packets() == 25U << 20U);
  swift.on_timeout(after_us(101), options);
  CHECK(swift.packets() == (1U << 20U) / 10);
  CHECK(swift.window() == 1'250);
  CHECK(swift.rate().value == Approx(1'250 * 8 / 10e-6 / 10).epsilon(1e-5));
}

// --- NSCC ------------------------------------------------------------------------------------------------------------

TEST_CASE("NSCC: initial values of the UEC's simulator at 100 Gb/s and 12 us") {
  const Nscc nscc({.line = 100_Gbps, .base_rtt = 12_us, .packet = {4'150}, .segment = {4'096}, .trims = true}, {});
  CHECK(nscc.largest() == 225'000);
  CHECK(nscc.window() == 225'000);
  CHECK(nscc.target() == 9_us);
  CHECK(nscc.proportional_increase() == 12'288);
  CHECK(nscc.fair_increase() == 20'480);
  CHECK(nscc.eta_increase() == 614);
}

TEST_CASE("NSCC: a shorter round trip that is measured is the base round trip, and no scale changes") {
  Nscc nscc({.line = 100_Gbps, .base_rtt = 12_us, .packet = {4'150}, .segment = {4'096}, .trims = true}, {});
  nscc.on_ack(after_us(10), {.rtt = 8_us, .acknowledged = {4'150}, .packets = 1}, {});
  CHECK(nscc.largest() == 150'000);  // 1.5 * 8 us * 12.5 B/ns
  CHECK(nscc.window() == 150'000);
  nscc.on_loss(after_us(11), {.bytes = {4'150}, .rtt = 6_us}, {});  // the headers were faster
  CHECK(nscc.largest() == 112'500);
  nscc.on_ack(after_us(12), {.rtt = 7_us, .acknowledged = {4'150}, .packets = 1}, {});
  CHECK(nscc.largest() == 112'500);
  CHECK(nscc.target() == 9_us);
  CHECK(nscc.proportional_increase() == 12'288);
}

TEST_CASE("NSCC: quick adaptation remembers a loss, and what was in flight then says nothing where it is bad news") {
  Nscc nscc({.line = 100_Gbps, .base_rtt = 12_us, .packet = {4'150}, .segment = {4'096}, .trims = true}, {});
  nscc.on_loss(after_us(1), {.bytes = {4'150}}, {});  // begins a period of 12 + 9 us
  CHECK(nscc.window() == 225'000 - 4'150);
  const sim::Bytes packet{4'150};
  nscc.on_ack(after_us(30), {.rtt = 20_us, .acknowledged = packet, .in_flight = {40'000}, .packets = 1}, {});
  CHECK(nscc.window() == 4'150);  // what the period has brought
  nscc.on_loss(after_us(31), {.bytes = packet}, {});
  nscc.on_ack(after_us(32), {.rtt = 40_us, .acknowledged = packet, .packets = 1, .marked = true}, {});
  CHECK(nscc.window() == 4'150);
  nscc.on_ack(after_us(33), {.rtt = 12_us, .acknowledged = packet, .packets = 1}, {});
  CHECK(nscc.window() == 4'150 + 12'288 + 614);  // the proportional increase of a whole window, and eta's
}

TEST_CASE("NSCC: the queue is the target's, the port is full") {
  for (const std::uint32_t flows : {4U, 8U}) {
    INFO(flows << " flows");
    OnePort port({.settings = algorithm(CongestionAlgorithm::nscc),
                  .rate = 100_Gbps,
                  .base = 12_us,
                  .payload = 4'096,
                  .mark_from = 30'000,
                  .mark_all = 120'000,
                  .trims = true},
                 flows);
    port.run(after_us(2'000), after_us(6'000));
    CHECK(port.mean_queue() > 112'500 * 0.95);
    CHECK(port.mean_queue() < 112'500 * 1.15);
    CHECK(port.utilisation() > 0.99);
  }
}

// --- TIMELY ----------------------------------------------------------------------------------------------------------

TEST_CASE("TIMELY has no unique fixed point: two flows stay as unequal as they began") {
  // Zhu et al., CoNEXT 2016, section 4.2.
  const auto ratio = [](std::uint64_t first, std::uint64_t second) {
    OnePort::Set set{.settings = algorithm(CongestionAlgorithm::timely), .rate = 10_Gbps, .base = 20_us};
    OnePort port(set, 2);
    const CongestionPath path{.line = 10_Gbps, .base_rtt = 20_us, .packet = {1'106}, .segment = {1'024}};
    for (const auto& [flow, rate] : {std::pair{0U, first}, std::pair{1U, second}}) {
      set.settings.others.timely.rate_first = {rate};
      port.control(flow) = Congestion(set.settings, path);
    }
    port.run(after_us(60'000), after_us(120'000));
    CHECK(port.utilisation() > 0.94);
    CHECK(port.longest_queue() < 600'000);
    return static_cast<double>(port.bytes(0)) / static_cast<double>(port.bytes(1));
  };
  const double equal = ratio(5'000'000'000, 5'000'000'000);
  CHECK(equal > 0.6);
  CHECK(equal < 1.7);
  CHECK(ratio(7'000'000'000, 3'000'000'000) > 3);
}

TEST_CASE("Patched TIMELY: the round trip is T_low (1 + N delta / (beta C))") {
  const std::uint32_t flows = GENERATE(2U, 10U);
  INFO(flows << " flows");
  OnePort::Set set{.settings = algorithm(CongestionAlgorithm::timely), .rate = 10_Gbps, .base = 20_us};
  set.settings.others.timely.patched = true;
  set.settings.others.timely.rate_first = {10'000'000'000ULL / flows};
  OnePort port(set, flows);
  port.run(after_us(60'000), after_us(90'000));
  CHECK(port.mean_rtt() == Approx(50 * (1 + flows * 10e6 / (0.008 * 10e9))).epsilon(0.1));
}
