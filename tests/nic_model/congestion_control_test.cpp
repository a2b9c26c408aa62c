// Congestion controls that go by answers, with NICs, links and switches: the fixed points of their papers, which
// tests/fabric/congestion_laws_test.cpp has for one port alone.
#include <functional>
#include <set>
#include <utility>

#include "crowd.hpp"
#include "fabric/tap.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using fabric::CongestionAlgorithm;

namespace {

constexpr sim::SimTime after(sim::Duration d) { return sim::SimTime{} + d; }

}  // namespace

TEST_CASE("HPCC on NICs: eta + N W_AI / (C T) of the port, and hardly a queue") {
  CrowdOptions o{.senders = 8, .mtu = 1'024, .delay = 2'400_ns};
  o.network.congestion.algorithm = CongestionAlgorithm::hpcc;
  o.network.congestion.base_rtt = 12_us;
  Crowd crowd(o);
  const Crowd::Figures f = crowd.measure(after(400_us), after(1'000_us));
  CHECK(f.utilisation == Approx(0.954).epsilon(0.015));
  CHECK(f.mean_queue < 4'000);
}

TEST_CASE("HPCC on NICs: two first windows leave one of them in the queue at most") {
  CrowdOptions o{.senders = 2, .mtu = 1'024, .delay = 2'400_ns};
  o.network.congestion.algorithm = CongestionAlgorithm::hpcc;
  o.network.congestion.base_rtt = 12_us;
  Crowd crowd(o);
  CHECK(crowd.measure(after(1_us), after(200_us)).longest <= 150'000 + 2 * 1'200);
}

TEST_CASE("Swift on NICs: N cwnd MTU = C target(cwnd)") {
  // 27.0 us for 8 flows of packets of 4,178 B: so 27.0 us less the base round trip wait in the queue.
  CrowdOptions o{.senders = 8, .delay = 2_us};
  o.network.congestion.algorithm = CongestionAlgorithm::swift;
  o.network.congestion.swift.hop = sim::Duration{0};
  Crowd crowd(o);
  const Crowd::Figures f = crowd.measure(after(1'500_us), after(3'000_us));
  const sim::Duration there = crowd.system().network().way(nic::PortId(1), nic::PortId(0), 4'178).time;
  const sim::Duration back = crowd.system().network().way(nic::PortId(0), nic::PortId(1), 86).time;
  const double base = static_cast<double>((there + back + crowd.system().config().profile.nic_transmit).ps) / 1e6;
  CHECK(f.utilisation > 0.99);
  CHECK(base + f.mean_queue * 8 / 100e3 == Approx(27.0).epsilon(0.12));
}

TEST_CASE("NSCC on NICs: the queue is the target's") {
  CrowdOptions o{.senders = 4, .delay = 2'400_ns};
  o.network.congestion.algorithm = CongestionAlgorithm::nscc;
  o.network.congestion.base_rtt = 12_us;
  o.network.congestion.nscc.target = 9_us;
  o.network.ecn = true;
  o.network.ecn_kmin = sim::Bytes{30'000};
  o.network.ecn_kmax = sim::Bytes{120'000};
  o.network.ecn_pmax = 1'000;
  Crowd crowd(o);
  const Crowd::Figures f = crowd.measure(after(1'500_us), after(3'000_us));
  CHECK(f.mean_queue > 112'500 * 0.95);
  CHECK(f.mean_queue < 112'500 * 1.15);
  CHECK(f.utilisation > 0.99);
}

TEST_CASE("Patched TIMELY on NICs: the round trip is T_low (1 + N delta / (beta C))") {
  // 2 flows of 100 Mb/s steps at 100 Gb/s: 50 us (1 + 2 * 0.1 / (0.008 * 100)) = 62.5 us.
  CrowdOptions o{.senders = 2, .delay = 4_us};
  o.network.congestion.algorithm = CongestionAlgorithm::timely;
  o.network.congestion.timely.patched = true;
  o.network.congestion.timely.additive = sim::BitsPerSecond{100'000'000};
  o.network.congestion.timely.rate_first = sim::BitsPerSecond{50'000'000'000};
  Crowd crowd(o);
  const Crowd::Figures f = crowd.measure(after(8_ms), after(10_ms));
  const sim::Duration there = crowd.system().network().way(nic::PortId(1), nic::PortId(0), 4'178).time;
  const double base = static_cast<double>(there.ps) * 2 / 1e6;
  CHECK(base + f.mean_queue * 8 / 100e3 == Approx(62.5).epsilon(0.1));
}

TEST_CASE(
    "Congestion control: no telemetry, no marks and no windows where it is off; one flow alone has the line rate") {
  for (const CongestionAlgorithm algorithm : {CongestionAlgorithm::none, CongestionAlgorithm::hpcc,
                                              CongestionAlgorithm::timely, CongestionAlgorithm::swift}) {
    INFO(static_cast<int>(algorithm));
    CrowdOptions o{.senders = 1, .delay = 1_us};
    o.network.congestion.algorithm = algorithm;
    Crowd crowd(o);
    const Crowd::Figures f = crowd.measure(after(500_us), after(1'000_us));
    // HPCC leaves 5 % free, and of its window of some 14 packets the part of one that does not fit.
    CHECK(f.utilisation > (algorithm == CongestionAlgorithm::hpcc ? 0.95 * 13 / 14 : 0.995));
    CHECK(f.longest < 10'000);
  }
}

namespace {
/// Which packets were cut, and how often.
struct Trimmed : fabric::LinkTap {
  std::set<std::pair<fabric::QpId, std::uint32_t>> packets;
  void on_packet(fabric::topology::LinkId, sim::SimTime, const fabric::Packet& packet) override {
    if (packet.trimmed) packets.insert({packet.source_qp, packet.psn.value()});
  }
  void on_pause(fabric::topology::LinkId, sim::SimTime, std::uint8_t, bool) override {}
};
}  // namespace

TEST_CASE("Trimming: of N first windows what the port has no room for, each repeated at once and without a time-out") {
  // NSCC begins with 1.5 BDP = 262,926 B at 14.02 us: 63 packets of 4,150 B on the wire, and nobody has more to send.
  // The port drains one window meanwhile: (7 * 262,926 - 178,450) / 4,150 = 400 are cut. Cables are so long that
  // windows have left before the first answer comes.
  constexpr std::uint64_t kRoom = 178'450;
  const auto transport = GENERATE(nic::TransportOptions{}, nic::TransportOptions{.kind = nic::TransportKind::srd},
                                  nic::TransportOptions{.kind = nic::TransportKind::uet});
  Trimmed trimmed;
  CrowdOptions o{.senders = 8, .delay = 5_us, .at_once = true, .requests = 1, .length = 63 * 4'096, .tap = &trimmed};
  o.overhead = 54;
  o.transport = transport;
  o.network.congestion.algorithm = CongestionAlgorithm::nscc;
  o.network.congestion.base_rtt = sim::Duration{14'022'720};
  o.network.ecn = o.network.trim = true;
  o.network.ecn_kmin = sim::Bytes{kRoom / 5};
  o.network.ecn_kmax = sim::Bytes{kRoom * 4 / 5};
  o.network.ecn_pmax = 1'000;
  o.network.flow_control = fabric::FlowControl::drop_tail;
  o.network.variation = fabric::Variation::none;
  o.network.buffer_size = sim::Bytes{2 * kRoom};
  o.network.buffer_alpha = 1'000;
  Crowd crowd(o);
  crowd.run_until(after(2_ms));
  CHECK(crowd.idle());
  CHECK(static_cast<double>(trimmed.packets.size()) == Approx(400).epsilon(0.05));
  const nic::Counters& c = crowd.system().counters();
  CHECK(c.timeouts == 0);
  CHECK(c.packets_lost == 0);
  CHECK(c.retransmissions == crowd.system().network().packet_network()->packets_trimmed());
}

TEST_CASE("Trimming where packets and answers overtake each other: nothing waits for a time-out") {
  Trimmed trimmed;
  CrowdOptions o{.senders = 8, .delay = 1_us, .paths = true, .at_once = true, .requests = 16, .tap = &trimmed};
  o.network.routing = fabric::Routing::spray;
  o.network.congestion.algorithm = CongestionAlgorithm::nscc;
  o.network.ecn = o.network.trim = true;
  o.network.ecn_kmin = sim::Bytes{20'000};
  o.network.ecn_kmax = sim::Bytes{80'000};
  o.network.flow_control = fabric::FlowControl::drop_tail;
  o.network.variation = fabric::Variation::none;
  o.network.buffer_size = sim::Bytes{200'000};
  o.network.buffer_alpha = 1'000;
  Crowd crowd(o);
  crowd.run_until(after(20_ms));
  CHECK(crowd.idle());
  CHECK(trimmed.packets.size() > 100);
  CHECK(crowd.system().counters().timeouts == 0);
  CHECK(crowd.system().counters().packets_lost == 0);
}

// Bytes whose ACK was lost stayed under way when the answer to an atomic behind them had acknowledged them, and what
// was posted later waited for them without a timer.
TEST_CASE("Congestion control: what the answer to a READ or an atomic acknowledges is not under way any more") {
  for (const CongestionAlgorithm algorithm :
       {CongestionAlgorithm::hpcc, CongestionAlgorithm::swift, CongestionAlgorithm::nscc}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(static_cast<int>(algorithm), seed);
      PairOptions options = lossy(200'000);
      options.timers = true;
      options.network.seed = seed;
      options.network.options.ecn = true;
      options.network.options.congestion.algorithm = algorithm;
      options.network.options.congestion.base_rtt = 100_ns;  // windows of hardly a packet
      nic::HardwareProfile profile = fast_timeout();
      profile.nic_ack_coalescing = 1;
      Pair pair(profile, options);
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 6; ++i) {
        wqes.push_back(pair.write(0, 0, 1'000));
        wqes.push_back(i % 2 == 0 ? pair.fetch_add(60'000, 60'000, 1) : pair.read(61'000, 61'000, 1'000));
      }
      pair.post(wqes);
      pair.run();
      CHECK(pair.statuses(0).size() == wqes.size());
    }
  }
}

// A time-out has requests sent again. When answers come before their turn at the port, nothing started the timer anew,
// although the data of a READ, or the result of an atomic, was still missing.
TEST_CASE("Congestion control: what is not sent again behind a time-out is waited for") {
  // A round trip takes longer than the time-out, and less than the gap between two packets: 1,106 B at 100 Mb/s.
  for (const nic::Opcode opcode : {nic::Opcode::rdma_read, nic::Opcode::fetch_add}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(static_cast<int>(opcode), seed);
      PairOptions options = lossy(300'000);
      options.timers = true;
      options.network.seed = seed;
      options.network.options.congestion.algorithm = CongestionAlgorithm::timely;
      options.network.options.congestion.timely.rate_first = sim::BitsPerSecond{100'000'000};
      nic::HardwareProfile profile = real();
      profile.nic_placement = nic::Placement::out_of_order;
      profile.link_delay = 15_us;
      profile.nic_ack_timeout = 20_us;
      profile.nic_ack_coalescing = 1;
      Pair pair(profile, options);
      const bool read = opcode == nic::Opcode::rdma_read;
      pair.post({read ? pair.read(60'000, 60'000, 1'000) : pair.fetch_add(60'000, 60'000, 1), pair.write(0, 0, 1'000)});
      pair.run();
      CHECK(pair.statuses(0).size() == 2);
    }
  }
}

TEST_CASE("Congestion control: what cannot be is refused") {
  const auto made = [](const std::function<void(nic::SystemConfig&)>& change) {
    nic::SystemConfig c{.profile = real()};
    c.network.options.congestion.algorithm = CongestionAlgorithm::hpcc;
    change(c);
    return nic::System(c);
  };
  CHECK_NOTHROW(made([](nic::SystemConfig& c) { c.profile.nic_ack_coalescing = 1; }));
  CHECK_THROWS_WITH(made([](nic::SystemConfig& c) { c.profile.nic_ack_coalescing = 4; }),
                    contains_text("need an answer a packet"));
  CHECK_THROWS_WITH(
      made([](nic::SystemConfig& c) { c.network.options.congestion.algorithm = CongestionAlgorithm::nscc; }),
      contains_text("nscc needs ecn"));
  CHECK_THROWS_WITH(made([](nic::SystemConfig& c) { c.network.options.ecn = c.network.options.dcqcn.enabled = true; }),
                    contains_text("a queue pair has one"));
  CHECK_THROWS_WITH(made([](nic::SystemConfig& c) { c.network.model = fabric::Model::flow; }),
                    contains_text("flow model"));
}
