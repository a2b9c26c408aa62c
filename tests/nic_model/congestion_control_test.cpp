// Congestion controls that go by answers, with NICs, links and switches: the fixed points of their papers, which
// tests/fabric/congestion_laws_test.cpp has for one port alone.
#include <functional>
#include <set>
#include <utility>

#include "fabric/packet_network.hpp"
#include "fabric/tap.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using fabric::CongestionAlgorithm;

namespace {

struct CrowdOptions {
  std::uint32_t senders = 2;
  std::uint64_t mtu = 4'096;
  sim::Duration delay{};       ///< of a cable
  std::uint32_t requests = 0;  ///< of each sender; 0: without end
  std::uint32_t length = 65'536;
  std::uint64_t overhead = 0;  ///< of a packet; 0: as the profile has it
  fabric::LinkTap* tap = nullptr;
  fabric::Options network{};
};

/// Hosts around a switch that all write to host 0 for ever. PCIe and NICs limit nothing.
class Crowd {
 public:
  explicit Crowd(const CrowdOptions& options)
      : system_({.profile = profile(options),
                 .topology = fabric::Topology::star,
                 .network = network(options),
                 .nodes = options.senders + 1,
                 .timed = true}),
        options_(options) {
    constexpr std::uint64_t kSize = 1 << 20;
    for (nic::NodeId node = 0; node <= options.senders; ++node) {
      regions_.push_back(system_.register_memory(node, system_.allocate(node, kSize), kSize));
      cqs_.push_back(system_.create_cq(node, 4'096));
    }
    for (nic::NodeId node = 1; node <= options.senders; ++node) {
      qps_.push_back(system_.create_qp(node, cqs_[node], 64));
      left_.push_back(options.requests);
      system_.connect(qps_.back(), system_.create_qp(0, cqs_[0], 1));
      // They begin one after the other within 10 us.
      system_.create_thread(node, sim::SimTime{std::int64_t{node - 1} * 10'000'000 / options.senders});
      scripts_.steps.emplace_back([this, node](nic::Cpu& cpu) { keep_busy(cpu, node); });
    }
  }

  void run_until(sim::SimTime end) {
    nic::Context context{scripts_, nullptr};
    while (!system_.idle() && system_.next_time() <= end) system_.step(context);
  }

  struct Figures {
    double utilisation = 0, mean_queue = 0;
    std::uint64_t longest = 0, lost = 0;
  };
  /// Of the port to host 0, looked at every 500 ns.
  Figures measure(sim::SimTime from, sim::SimTime end) {
    run_until(from);
    const fabric::topology::LinkId port = to_host();
    const std::uint64_t before = net().counters(port).bytes;
    Figures f;
    std::uint64_t looks = 0;
    for (sim::SimTime at = from; at <= end; at += 500_ns, ++looks) {
      run_until(at);
      f.mean_queue += static_cast<double>(net().queued(port, std::max(at, system_.now())));
    }
    f.mean_queue /= static_cast<double>(looks);
    const double seconds = static_cast<double>((end - from).ps) / 1e12;
    f.utilisation = static_cast<double>(net().counters(port).bytes - before) * 8 / seconds / 100e9;
    f.longest = net().counters(port).queue_max;
    f.lost = system_.counters().packets_lost;
    return f;
  }
  [[nodiscard]] nic::System& system() { return system_; }
  [[nodiscard]] bool idle() const { return system_.idle(); }

 private:
  static nic::HardwareProfile profile(const CrowdOptions& options) {
    nic::HardwareProfile p = profile_file("cx5-roce-100g");
    p.link_rate = sim::BitsPerSecond{100'000'000'000};
    p.link_mtu = sim::Bytes{options.mtu};
    p.link_delay = options.delay;
    p.pcie_generation = 0;
    p.pcie_rate = sim::BitsPerSecond{1'000'000'000'000};
    p.nic_placement = options.tap != nullptr ? nic::Placement::out_of_order : nic::Placement::in_order;
    if (options.overhead != 0) p.link_overhead = sim::Bytes{options.overhead};
    p.nic_qp_gap = p.nic_packet_gap = p.nic_jitter = sim::Duration{0};
    p.nic_qp_gap_rate = p.nic_buffer_rate = sim::BitsPerSecond{0};
    p.pcie_tags = p.pcie_nonposted_credits = 0;
    return p;
  }
  static fabric::Config network(const CrowdOptions& options) {
    fabric::Config c;
    c.options = options.network;
    c.tap = options.tap;
    return c;
  }
  [[nodiscard]] const fabric::PacketNetwork& net() const { return *system_.network().packet_network(); }
  [[nodiscard]] fabric::topology::LinkId to_host() const {
    return fabric::topology::opposite(net().graph().ports(0).front());
  }
  void keep_busy(nic::Cpu& cpu, nic::NodeId node) {
    std::array<nic::Cqe, 64> done;
    while (cpu.poll_cq(cqs_[node], done) != 0) {
    }
    const nic::Wqe wqe{.opcode = nic::Opcode::rdma_write,
                       .length = options_.length,
                       .lkey = regions_[node].lkey,
                       .rkey = regions_[0].rkey,
                       .local = regions_[node].base,
                       .remote = regions_[0].base};
    const nic::QpId qp = qps_[node - 1];
    std::uint32_t& left = left_[node - 1];
    while ((options_.requests == 0 || left > 0) && system_.send_queue_room(qp) > 56 && !cpu.store_buffer_full()) {
      if (cpu.post_send(qp, {&wqe, 1}) != nic::PostResult::ok) break;
      if (left > 0) --left;
    }
    if (options_.requests != 0 && left == 0 && system_.qp_settled(qp)) return cpu.stop();
    cpu.resume_after(1_us);
  }

  nic::System system_;
  CrowdOptions options_;
  std::vector<std::uint32_t> left_;
  std::vector<nic::MemoryRegion> regions_;
  std::vector<nic::CqId> cqs_;
  std::vector<nic::QpId> qps_;
  Scripts scripts_;
};

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
  const sim::Duration there = crowd.system().network().way(1, 0, 4'178).time;
  const sim::Duration back = crowd.system().network().way(0, 1, 86).time;
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
  const sim::Duration there = crowd.system().network().way(1, 0, 4'178).time;
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
  void on_pause(fabric::topology::LinkId, sim::SimTime, bool) override {}
};
}  // namespace

TEST_CASE("Trimming: of N first windows what the port has no room for, each repeated at once and without a time-out") {
  // NSCC begins with 1.5 BDP = 262,926 B at 14.02 us: 63 packets of 4,150 B on the wire, and nobody has more to send.
  // The port drains one window meanwhile: (7 * 262,926 - 178,450) / 4,150 = 400 are cut.
  constexpr std::uint64_t kRoom = 178'450;
  Trimmed trimmed;
  CrowdOptions o{.senders = 8, .delay = 2_us, .requests = 1, .length = 63 * 4'096, .tap = &trimmed};
  o.overhead = 54;
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
