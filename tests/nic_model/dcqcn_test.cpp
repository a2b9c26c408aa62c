// DCQCN of a queue pair (Zhu et al., SIGCOMM 2015): its rate is for all that it sends.
#include <limits>

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
