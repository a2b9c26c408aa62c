// Small accesses beside bulk transfers on one host's PCIe: what is in front of them on the link is what was sent, not
// all that was posted.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

namespace {

constexpr std::uint64_t kBulk = 1 << 20;

/// Node 0 posts `bulk` WRITEs of 1 MiB to node 1 on one queue pair; 20 us later node 2 writes 8 bytes into node 0. How
/// long that takes until memory has it.
sim::Duration write_beside(const nic::HardwareProfile& profile, std::uint32_t bulk) {
  nic::System system({.profile = profile, .topology = fabric::Topology::star, .nodes = 3});
  Scripts scripts;
  const auto memory = [&](nic::NodeId node, std::uint64_t size) {
    return system.register_memory(node, system.allocate(node, size), size);
  };
  const auto connected = [&](nic::NodeId from, nic::NodeId to, std::uint32_t entries) {
    const nic::QpId qp = system.create_qp(from, system.create_cq(from, 256), entries);
    system.connect(qp, system.create_qp(to, system.create_cq(to, 4), 2));
    return qp;
  };
  const nic::MemoryRegion source = memory(0, kBulk);
  const nic::MemoryRegion sink = memory(1, kBulk);
  const nic::MemoryRegion word = memory(2, 64);
  const nic::MemoryRegion target = memory(0, 64);
  system.set_word(2, word.base, 5);
  const nic::QpId heavy = connected(0, 1, 256);
  const nic::QpId light = connected(2, 0, 2);
  system.create_thread(0);
  scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const nic::Wqe wqe{.opcode = nic::Opcode::rdma_write,
                       .length = kBulk,
                       .lkey = source.lkey,
                       .rkey = sink.rkey,
                       .local = source.base,
                       .remote = sink.base};
    if (bulk > 0) CHECK(cpu.post_send(heavy, std::vector<nic::Wqe>(bulk, wqe)) == nic::PostResult::ok);
    cpu.stop();
  });
  const sim::SimTime start{20'000'000};
  system.create_thread(2, start);
  scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const nic::Wqe wqe{.opcode = nic::Opcode::rdma_write,
                       .inline_data = true,
                       .length = 8,
                       .lkey = word.lkey,
                       .rkey = target.rkey,
                       .local = word.base,
                       .remote = target.base};
    CHECK(cpu.post_send(light, {&wqe, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  nic::Context context{scripts, nullptr};
  while (system.word(0, target.base) != 5) REQUIRE(system.step(context));
  return system.now() - start;
}

}  // namespace

TEST_CASE("a write into a host does not wait behind the read requests of all that the host has posted") {
  const nic::HardwareProfile profile = profile_file("cx5-roce-100g");
  const sim::Duration alone = write_beside(profile, 0);
  for (const std::uint32_t bulk : {1U, 8U, 32U, 128U}) {
    INFO(bulk << " WRITEs of 1 MiB");
    // Ahead of it on the link: at most a request of each work request posted, and a TLP that is being sent.
    const std::uint64_t ahead = bulk * profile.pcie_read_header.count + profile.pcie_mps.count + 24;
    CHECK(write_beside(profile, bulk) <= alone + sim::transmission_time({ahead}, profile.pcie_rate));
  }
}
