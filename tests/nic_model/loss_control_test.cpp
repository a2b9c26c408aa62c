// What a requester does about losses besides repeating: the transmit window, slow restart behind a time-out, time-outs
// that adapt to round trips (requester/transmit_window.hpp; ConnectX: ROCE_ACCL). And planes: a queue pair that places
// out of order sends through all ports of its host.
#include "nic_model/requester/transmit_window.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

/// Bits a second of `count` writes of 64 KiB, from the first post to the last completion.
double rate_of(Pair& pair, std::size_t count, bool reads = false) {
  constexpr std::uint32_t kSize = 65'536;
  pair.post(std::vector(count, reads ? pair.read(0, 0, kSize) : pair.write(0, 0, kSize)));
  pair.run();
  REQUIRE(pair.statuses(0) == std::vector<Status>(count, Status::success));
  return kSize * 8.0 * static_cast<double>(count) / (pair.recorder.cqes.back().at - sim::SimTime{}).seconds();
}

/// Two hosts with a cable to each of `planes` switches.
PairOptions planes(std::uint32_t planes, fabric::Routing routing) {
  fabric::topology::Custom graph{.hosts = 2, .switches = planes, .edges = {}};
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    graph.edges.push_back({0, 2 + plane});
    graph.edges.push_back({1, 2 + plane});
  }
  PairOptions options;
  options.topology = fabric::Topology::shaped;
  options.network.shape = graph;
  options.network.options.routing = routing;
  return options;
}

}  // namespace

TEST_CASE("planes: one queue pair has the rate of all ports, until PCIe decides") {
  // 25 Gb/s a cable; packets of 1024 B with 82 B of headers and 16 of RETH. PCIe gen3 x8: TLPs of 256 B, headers 24.
  constexpr double kPlane = 25e9 * 1024 / (1024 + 82 + 16);
  constexpr double kPcie = 57.88e9 * 256 / (256 + 24);
  unsigned turn = 0;
  for (const fabric::Routing routing : {fabric::Routing::spray, fabric::Routing::adaptive, fabric::Routing::ecmp}) {
    for (const std::uint32_t count : {1U, 2U, 3U, 4U}) {
      for (const bool reads : {false, true}) {
        if (++turn % 5 != 0 && kShare > 1) continue;  // sanitized: some of each
        nic::HardwareProfile profile = real();
        profile.nic_placement = nic::Placement::out_of_order;
        // by its hash a flow of one entropy has one port
        if (routing == fabric::Routing::ecmp) profile.transport.kind = nic::TransportKind::uet;
        Pair pair(profile, planes(count, routing));
        CAPTURE(count, reads, static_cast<int>(routing));
        CHECK(rate_of(pair, 100, reads) == Approx(std::min(count * kPlane, kPcie)).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("planes: a port that is down, or paused for good, is not used") {
  nic::HardwareProfile profile = real();
  profile.nic_placement = nic::Placement::out_of_order;
  PairOptions options = planes(2, fabric::Routing::spray);
  options.network.changes = {{sim::SimTime{}, 0, false}};
  options.network.options.reroute = true;
  Pair pair(profile, options);
  const auto content = pair.fill(0, 0, 65'536, 3);
  constexpr double kPlane = 25e9 * 1024 / (1024 + 82 + 16);
  CHECK(rate_of(pair, 40) == Approx(kPlane).epsilon(0.05));
  CHECK(pair.bytes(1, 0, 65'536) == content);
}

TEST_CASE("transmit window: so many bytes a round trip, and no fewer once it covers one") {
  PairOptions options;
  options.timers = true;
  Pair free(real(), options);
  const double line = rate_of(free, 20);
  double last = 0;
  for (const std::uint64_t window : {1'024U, 4'096U, 8'192U, 65'536U}) {
    nic::HardwareProfile profile = real();
    profile.nic_tx_window = {window};
    Pair pair(profile, options);
    const double rate = rate_of(pair, 20);
    // A round trip is longer than the cable's, the NICs' and a packet's on the link, twice each way.
    const sim::Duration least = (profile.link_delay + profile.nic_transmit + profile.nic_receive) * 2;
    CAPTURE(window);
    CHECK(rate <= std::min(line * 1.001, static_cast<double>(window) * 8 / least.seconds()));
    CHECK(rate >= last);
    last = rate;
  }
  CHECK(last == Approx(line).epsilon(0.01));
}

TEST_CASE("transmit window: nothing waits for ever, and all bytes are right, whatever is lost") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    nic::HardwareProfile profile = fast_timeout();
    profile.nic_tx_window = {4'096};
    profile.nic_slow_restart = nic::SlowRestart::on;
    profile.nic_slow_restart_idle = 20_us;
    PairOptions options = lossy(50'000);
    options.network.seed = seed;
    options.timers = true;
    Pair pair(profile, options);
    const auto content = pair.fill(0, 0, 60'000, 1);
    pair.post({pair.write(0, 0, 30'000), pair.read(60'000, 0, 20'000), pair.write(30'000, 30'000, 30'000),
               pair.fetch_add(100'000, 90'000, 5), pair.write(0, 0, 8)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(5, Status::success));
    CHECK(pair.bytes(1, 0, 60'000) == content);
  }
}

// A READ's data does not acknowledge its last PSN by its own PSN: a window stayed full for ever.
TEST_CASE("transmit window: READs and atomics make room for what is behind them when they are complete") {
  using nic::Placement;
  for (const Placement placement :
       {Placement::in_order, Placement::out_of_order, Placement::reads_overtake, Placement::unordered}) {
    for (const bool loses : {false, true}) {  // where packets can be lost: none is
      nic::HardwareProfile profile = real();
      profile.nic_placement = placement;
      profile.nic_tx_window = {4'096};
      PairOptions options;
      options.timers = true;
      if (loses) options.network.options.flow_control = fabric::FlowControl::drop_tail;
      Pair pair(profile, options);
      const auto there = pair.fill(1, 0, 40'000, 7);
      CAPTURE(static_cast<int>(placement), loses);
      pair.post({pair.read(0, 0, 20'000), pair.read(20'000, 20'000, 20'000), pair.fetch_add(60'000, 60'000, 1),
                 pair.read(80'000, 0, 6'000), pair.write(0, 100'000, 20'000)});
      pair.run();
      CHECK(pair.statuses(0) == std::vector<Status>(5, Status::success));
      CHECK(pair.bytes(0, 0, 40'000) == there);
      CHECK(pair.system.counters().timeouts == 0);
    }
  }
}

TEST_CASE("transmit window: there is none with faults that take answers out of order") {
  for (const nic::Fault fault : {nic::Fault::responder_reorders, nic::Fault::early_write_completion}) {
    nic::HardwareProfile profile = real();
    profile.faults.add(fault);
    profile.nic_tx_window = {4'096};
    PairOptions options;
    options.timers = true;
    Pair pair(profile, options);
    CAPTURE(static_cast<int>(fault));
    pair.post({pair.write(0, 0, 20'000), pair.read(60'000, 20'000, 20'000), pair.fetch_add(60'000, 60'000, 1),
               pair.write(0, 100'000, 20'000)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(4, Status::success));
  }
}

TEST_CASE("time-outs double, and begin again at the first with progress, however long a round trip is") {
  nic::TransmitWindow window;
  const sim::Duration first = 2_ms, most = 67_ms;
  window.sent(fabric::Psn(0), sim::SimTime{});
  for (const sim::Duration each : {2_ms, 4_ms, 8_ms, 16_ms}) {  // linux-rdma/perftest issue 251, behind 40 ms
    CHECK(window.time_out(first, most) == each);
    (void)window.timed_out(each, most);
  }
  window.acknowledged(fabric::Psn(1), 1, sim::SimTime{} + 40_ms, 1'000'000);
  CHECK(window.time_out(first, most) == 2_ms);
  // Without progress they double up to nic.ack_timeout; their sum is what a connection ends by.
  sim::Duration waited{};
  for (int i = 0; i < 7; ++i) waited = window.timed_out(window.time_out(first, most), most);
  CHECK(waited == 2_ms + 4_ms + 8_ms + 16_ms + 32_ms + 64_ms + 67_ms);
  CHECK(window.time_out(first, most) == 67_ms);
}

TEST_CASE("slow restart: 16 packets, and one more for each that is acknowledged, until they cover a round trip") {
  nic::TransmitWindow window;
  window.sent(fabric::Psn(0), sim::SimTime{});
  window.acknowledged(fabric::Psn(1), 1, sim::SimTime{} + 40_us, 1'000'000);  // 40 packets a round trip
  CHECK(window.packets() == 0);
  window.restart();
  CHECK(window.packets() == 16);
  window.acknowledged(fabric::Psn(5), 4, sim::SimTime{} + 50_us, 1'000'000);
  CHECK(window.packets() == 20);
  window.acknowledged(fabric::Psn(24), 19, sim::SimTime{} + 60_us, 1'000'000);
  CHECK(window.packets() == 39);
  window.acknowledged(fabric::Psn(25), 1, sim::SimTime{} + 70_us, 1'000'000);
  CHECK(window.packets() == 0);  // no window any more
}

TEST_CASE("on a fabric that drops, a connection ends after the time of its retries") {
  nic::HardwareProfile profile = impatient(3);
  REQUIRE(profile.nic_lossy_timeout.ps > 0);
  PairOptions options;
  options.timers = true;
  options.network.options.flow_control = fabric::FlowControl::drop_tail;
  options.network.changes = {{sim::SimTime{}, 0, false}};
  Pair pair(profile, options);
  pair.post({pair.write(0, 0)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  const sim::SimTime end = pair.recorder.cqes.back().at;
  CHECK(end >= sim::SimTime{} + kTimeout * 4);
  CHECK(end < sim::SimTime{} + kTimeout * 6);
}
