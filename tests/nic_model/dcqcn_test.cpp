// DCQCN of a queue pair (Zhu et al., SIGCOMM 2015): its rate is for all that it sends.
#include <cmath>
#include <limits>

#include "crowd.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Opcode;

namespace {
/// What a queue pair sends of data, and how close behind each other.
struct Sent : nic::Observer {
  nic::QpId of = 0;
  std::uint64_t bytes = 0;
  sim::SimTime last{};
  sim::Duration least{std::numeric_limits<std::int64_t>::max()};
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) override {
    if (step != nic::PacketStep::sent || packet.source_qp != of || packet.length == 0) return;
    if (bytes > 0) least = std::min(least, at - last);
    bytes += packet.wire;
    last = at;
  }
};
}  // namespace

TEST_CASE("DCQCN: a queue pair has one rate for its WRITEs and for its answers to READs") {
  // Every data packet that waits is marked, and rates only fall, by half: 20 and 20 Gb/s still meet at the port of 40,
  // 10 and 10 do not. Queue pair A writes and answers READs, C only writes: each sends 10 Gb/s of packets.
  for (const bool reads : {false, true}) {
    INFO("READs " << reads);
    nic::HardwareProfile profile = profile_file("cx5-roce-100g");
    profile.link_rate = sim::BitsPerSecond{40'000'000'000};
    fabric::Config network;
    fabric::Options& o = network.options;
    o.ecn = o.dcqcn.enabled = true;
    o.ecn_kmin = o.ecn_kmax = sim::Bytes{0};
    o.dcqcn.rate_timer = sim::Duration{1'000'000'000'000};
    o.dcqcn.byte_counter = sim::Bytes{1ULL << 40U};
    nic::System system({.profile = profile, .topology = fabric::Topology::star, .network = network, .nodes = 3});
    std::array<nic::MemoryRegion, 3> region{};
    std::array<nic::CqId, 3> cq{};
    for (nic::NodeId node = 0; node < 3; ++node) {
      region[node] = system.register_memory(node, system.allocate(node, 1 << 17), 1 << 17);
      cq[node] = system.create_cq(node, 100'000);
    }
    const auto new_qp = [&](nic::NodeId node) { return system.create_qp(node, cq[node], 256); };
    const nic::QpId a = new_qp(1), to_a = new_qp(0), c = new_qp(2);
    system.connect(a, to_a);
    system.connect(c, new_qp(0));
    Scripts scripts;
    const auto keep_busy = [&](nic::NodeId node, nic::QpId qp, Opcode opcode, nic::NodeId peer) {
      system.create_thread(node);
      scripts.steps.emplace_back([&, node, qp, opcode, peer](nic::Cpu& cpu) {
        std::array<nic::Cqe, 64> done;
        while (cpu.poll_cq(cq[node], done) != 0) {
        }
        const nic::Wqe wqe{.opcode = opcode,
                           .length = 65'536,
                           .lkey = region[node].lkey,
                           .rkey = region[peer].rkey,
                           .local = region[node].base,
                           .remote = region[peer].base};
        while (system.send_queue_room(qp) > 240 && !cpu.store_buffer_full()) {
          if (cpu.post_send(qp, {&wqe, 1}) != nic::PostResult::ok) break;
        }
        cpu.resume_after(2_us);
      });
    };
    keep_busy(1, a, Opcode::rdma_write, 0);
    if (reads) keep_busy(0, to_a, Opcode::rdma_read, 1);
    keep_busy(2, c, Opcode::rdma_write, 0);
    Sent sent;
    sent.of = a;
    nic::Context before{scripts, nullptr}, context{scripts, &sent};
    while (system.now() < sim::SimTime{} + 2_ms) system.step(before);
    while (system.now() < sim::SimTime{} + 6_ms) system.step(context);
    const double gbps = static_cast<double>(sent.bytes) * 8 / 4e6;  // in 4 ms
    // A packet of either takes its turn behind the other's: at 10 Gb/s they are never closer than one takes.
    CHECK(sent.least.ps > static_cast<std::int64_t>(profile.link_mtu.count) * 800 * 95 / 100);
    CHECK(gbps > 9.5);
    CHECK(gbps < 10.5);
  }
}

TEST_CASE("DCQCN without congestion costs nothing, and what a NIC sends to itself knows no rate of the network") {
  const bool to_itself = GENERATE(false, true);
  const auto took = [&](bool dcqcn) {
    PairOptions options{.size = 1 << 21};
    options.network.options.ecn = options.network.options.dcqcn.enabled = dcqcn;
    Pair pair(real(), options);
    const auto new_qp = [&] { return pair.system.create_qp(0, {.send_cq = pair.cq[0], .send_entries = 8}); };
    const nic::QpId near = new_qp(), far = new_qp();
    pair.system.connect(near, far);
    nic::Wqe wqe = pair.write(0, 1 << 20, 1 << 20);
    if (to_itself) {
      wqe.rkey = wqe.lkey;
      wqe.remote = wqe.local + (1 << 20);
    }
    pair.post({wqe}, to_itself ? near : pair.qp[0]);
    pair.run();
    return pair.recorder.cqes.at(0).at;
  };
  CHECK(took(true) == took(false));
}

namespace {
/// The share of packets that are marked at the fixed point of DCQCN's fluid model: Zhu et al., "ECN or Delay", CoNEXT
/// 2016, equations 11 and 12. N flows on a link of C packets a second; the CNP interval and the timers in seconds, the
/// byte counter and R_AI in packets (a second).
double fixed_point(double flows, double link, double wire) {
  const double r = link / flows, t = 50e-6, alpha_timer = 55e-6, rate_timer = 55e-6, f = 5;
  const double counter = 10e6 / wire, additive = 40e6 / 8 / wire;
  const auto excess = [&](double p) {
    const double a = 1 - std::pow(1 - p, alpha_timer * r), h = 1 - std::pow(1 - p, t * r);
    const double b = p / (std::pow(1 - p, -counter) - 1), d = p / (std::pow(1 - p, -rate_timer * r) - 1);
    const double x = a * h / (t * (b + d));
    return x * h / t - additive * r * (std::pow(1 - p, f * counter) * b + std::pow(1 - p, f * rate_timer * r) * d);
  };
  double low = 1e-6, high = 0.1;
  for (int i = 0; i < 60; ++i) (excess((low + high) / 2) < 0 ? low : high) = (low + high) / 2;
  return low;
}
}  // namespace

TEST_CASE("DCQCN: marks and queue are those of the fluid model's fixed point", "[.long]") {
  // 40 Gb/s, packets of 1,106 B: 0.86e-3 and 2.09e-3 of the packets for two and four flows; the model is of smooth
  // flows, and its approximation for few marks, p^3 = R_AI N^2 (1/B + N/(T C))^2 / (t' C^2), says 1.02e-3 and 2.57e-3:
  // that is how far off it may be, a third above.
  // The queue is kmin + p / pmax (kmax - kmin).
  for (const auto& [flows, model, most] : {std::tuple{2U, 0.86e-3, 1.4e-3}, std::tuple{4U, 2.09e-3, 3.0e-3}}) {
    INFO(flows << " flows");
    const double p = fixed_point(flows, 40e9 / 8 / 1'106, 1'106);
    CHECK(p == Approx(model).epsilon(0.01));
    CrowdOptions o{.senders = flows, .mtu = 1'024, .delay = 500_ns, .rate = sim::BitsPerSecond{40'000'000'000}};
    o.network.ecn = o.network.dcqcn.enabled = true;
    Crowd crowd(o);
    const Crowd::Figures f = crowd.measure(sim::SimTime{} + 100_ms, sim::SimTime{} + 200_ms);
    CHECK(f.marks > p * 0.95);
    CHECK(f.marks < most);
    if (flows == 4) {  // 45.7 kB by the model, 55 by its approximation
      CHECK(f.median_queue > 40'000);
      CHECK(f.median_queue < 62'000);
    }
    CHECK(f.utilisation > 0.97);
  }
}
