// What profiles can switch on: caches of contexts and the price of a miss, processing units in turn, windows of tags
// and credits, device memory, warm, remote and translated memory, relaxed ordering, and the order of PCIe reads.
#include <algorithm>
#include <catch2/catch.hpp>

#include "nic_model/key_cache.hpp"
#include "nic_model/window.hpp"
#include "rig.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

namespace {

nic::HardwareProfile plain() {
  nic::HardwareProfile p;
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_upstream = 31_ns;
  p.pcie_downstream = 37_ns;
  p.pcie_read_access = 90_ns;
  p.pcie_write_commit = 85_ns;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.nic_wqe_start = 53_ns;
  p.nic_transmit = 59_ns;
  p.nic_receive = 61_ns;
  p.nic_inline_max = 64_B;
  p.link_ideal = false;
  p.link_delay = 73_ns;
  return p;
}
constexpr std::int64_t kRoundTrip = (31 + 90 + 37) * 1000;

/// When memory of node 1 had the first of these work requests' writes.
sim::SimTime written(Rig& rig, const std::vector<nic::Wqe>& wqes) {
  rig.recorder.subevents.clear();
  rig.recorder.finishes.clear();
  const sim::SimTime start = rig.system.now();
  rig.post_and_run(wqes);
  return sim::SimTime{} + (rig.recorder.finished(Stamp::aNRW) - start);
}

sim::Duration write_time(const nic::HardwareProfile& p) {
  Rig rig(p);
  return written(rig, {rig.write(0, 0)}) - sim::SimTime{};
}

/// Runs random schedules of: node 1 stores x = 1, then y = 1; node 0 READs y and, right behind it, x. How many saw y
/// without x?
int reversed_reads(const nic::HardwareProfile& profile, int runs) {
  int reversed = 0;
  for (int run = 0; run < runs; ++run) {
    Rig rig(profile);
    const nic::Address x = rig.remote.base, y = rig.remote.base + 512;
    rig.system.create_thread(0);
    rig.system.create_thread(1);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const std::array<nic::Wqe, 2> reads = {rig.read(8, 512), rig.read(0, 0)};
      CHECK(cpu.post_send(rig.qp, reads) == nic::PostResult::ok);
      cpu.stop();
    });
    rig.scripts.steps.emplace_back([&, step = 0](nic::Cpu& cpu) mutable {
      cpu.store(step == 0 ? x : y, 1);
      if (step++ == 0) return cpu.resume_after(1_ns);
      cpu.stop();
    });
    rig.run_random(static_cast<std::uint64_t>(run));
    if (rig.system.word(0, rig.local.base + 8) == 1 && rig.system.word(0, rig.local.base) == 0) ++reversed;
  }
  return reversed;
}

}  // namespace

TEST_CASE("a bank a slot and two ways: the read states of two queue pairs never displace each other") {
  constexpr std::uint64_t kSlots = 16, kPairs = 100;
  for (std::uint64_t a = 0; a < kPairs; ++a) {
    nic::KeyCache<std::uint64_t> cache(32, 2);  // 16 sets: one a slot, the tightest that can hold both
    for (int turn = 0; turn < 3; ++turn) {
      for (const std::uint64_t qp : {a, a + 1}) {
        for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
          CHECK(cache.touch(qp << 16U | slot, slot, kSlots) == (turn > 0));
        }
      }
    }
  }
}

TEST_CASE("a cache forgets the key of a set that was used longest ago") {
  nic::KeyCache<std::uint64_t> cache(4, 4);  // one set
  for (const std::uint64_t key : {1U, 2U, 3U, 4U}) CHECK_FALSE(cache.touch(key));
  CHECK(cache.touch(1));
  CHECK_FALSE(cache.touch(5));  // in place of 2
  CHECK(cache.touch(1));
  CHECK_FALSE(cache.touch(2));
  CHECK(nic::KeyCache<std::uint64_t>().touch(7));  // without entries: everything is held
}

TEST_CASE("a window lets its capacity pass at once, and then one unit as another one leaves") {
  nic::Window window;
  const sim::SimTime now{1000};
  for (int i = 0; i < 4; ++i) CHECK(window.admit(now, 1, 4, sim::Duration{400}).ps == 0);
  CHECK(window.admit(now, 1, 4, sim::Duration{400}).ps == 100);
  CHECK(window.admit(now, 1, 4, sim::Duration{400}).ps == 200);
  CHECK(window.admit(now + sim::Duration{1000}, 4, 4, sim::Duration{400}).ps == 0);
  CHECK(nic::Window{}.admit(now, 1000, 0, sim::Duration{400}).ps == 0);  // no limit
}

TEST_CASE("the first message of a queue pair misses its context on both sides: a PCIe read each; the second does not") {
  nic::HardwareProfile p = plain();
  const sim::Duration held = write_time(p);
  p.nic_context_entries = 64;
  Rig rig(p);
  CHECK((written(rig, {rig.write(0, 0)}) - sim::SimTime{}).ps == held.ps + 2 * kRoundTrip);
  CHECK((written(rig, {rig.write(0, 0)}) - sim::SimTime{}).ps == held.ps);
  CHECK(rig.system.counters().cache_misses == 2);
}

TEST_CASE("a missing translation costs a PCIe read on each side, once a page") {
  nic::HardwareProfile p = plain();
  const sim::Duration held = write_time(p);
  p.nic_translation_entries = 64;
  Rig rig(p);
  CHECK((written(rig, {rig.write(0, 0)}) - sim::SimTime{}).ps == held.ps + 2 * kRoundTrip);
  CHECK((written(rig, {rig.write(128, 64)}) - sim::SimTime{}).ps == held.ps);
}

TEST_CASE("one processing unit serves two queue pairs in turn") {
  nic::HardwareProfile p = plain();
  p.nic_units = 1;
  p.nic_unit_time = 100_ns;
  Rig rig(p);
  const nic::QpId other = rig.system.create_qp(0, rig.cq, 16, 0);
  rig.system.connect(other, rig.system.create_qp(1, 1, 1));
  rig.system.create_thread(0);
  rig.scripts.steps.emplace_back([&, first = true](nic::Cpu& cpu) mutable {
    const std::vector<nic::Wqe> three(3, rig.write(0, 0));
    CHECK(cpu.post_send(first ? rig.qp : other, three) == nic::PostResult::ok);
    if (!first) return cpu.stop();
    first = false;
    cpu.resume_after({});
  });
  rig.run();
  std::vector<nic::QpId> order;
  for (const fabric::Packet& packet : rig.recorder.sent) {
    if (packet.opcode == fabric::Opcode::write) order.push_back(packet.source_qp);
  }
  // The first queue pair has its next work request ready when the unit is free; from then on they take turns.
  CHECK(order == std::vector<nic::QpId>{rig.qp, other, rig.qp, other, rig.qp, other});
}

TEST_CASE("memory on the NIC is reached without PCIe") {
  nic::HardwareProfile p = plain();
  p.nic_device_access = 20_ns;
  const sim::Duration host = write_time(p);
  Rig rig(p);
  rig.remote = rig.system.register_memory(1, rig.system.allocate(1, 4096), 4096, nic::kAllAccess, {.device = true});
  CHECK((written(rig, {rig.write(0, 0)}) - sim::SimTime{}).ps == host.ps - (31 + 85) * 1000 + 20 * 1000);
  rig.fill(0, 64, {42});
  rig.post_and_run({rig.write(64, 64), rig.read(128, 64)});
  CHECK(rig.bytes(0, 128, 1)[0] == 42);
}

TEST_CASE("warm, remote and translated memory: the published differences") {
  nic::HardwareProfile p = plain();
  const sim::Duration base = write_time(p);
  p.pcie_warm_saving = 70_ns;
  CHECK(write_time(p) == base);
  p.pcie_cpu_cache = {1 << 20};
  // Less for the fetch of the work request, the read of the payload, the write.
  CHECK(write_time(p).ps == base.ps - 3 * 70'000);
  p.pcie_cpu_cache = {};
  p.pcie_remote_numa = true;
  p.pcie_numa_penalty = 107_ns;
  CHECK(write_time(p).ps == base.ps + 3 * 107'000);
  p.pcie_remote_numa = false;
  p.pcie_iommu = true;
  p.pcie_iommu_window = 256_KiB;
  p.pcie_iommu_penalty = 280_ns;
  CHECK(write_time(p).ps == base.ps + 2 * 280'000);  // queues are held
}

TEST_CASE("a write to a region with relaxed ordering may pass an earlier write, others never do") {
  const bool relaxed = GENERATE(false, true);
  int passed = 0;
  for (int run = 0; run < 500; ++run) {
    Rig rig(plain());
    const nic::MemoryRegion second =
        rig.system.register_memory(1, rig.system.allocate(1, 64), 64, nic::kAllAccess, {.relaxed_ordering = relaxed});
    rig.fill(0, 0, {1});
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      std::array<nic::Wqe, 2> writes = {rig.write(0, 0), rig.write(0, 0)};
      writes[1].rkey = second.rkey;
      writes[1].remote = second.base;
      CHECK(cpu.post_send(rig.qp, writes) == nic::PostResult::ok);
      cpu.stop();
    });
    bool early = false;
    rig.run_random(static_cast<std::uint64_t>(run), nullptr,
                   [&] { early |= rig.system.word(1, second.base) == 1 && rig.system.word(1, rig.remote.base) == 0; });
    CHECK(rig.system.word(1, second.base) == 1);
    passed += early;
  }
  CHECK((passed > 0) == relaxed);
}

TEST_CASE("READs of one queue pair may take effect in any order, unless the what-ifs keep them in order") {
  nic::HardwareProfile p = plain();
  CHECK(reversed_reads(p, 2000) > 0);
  for (const auto ordering :
       {nic::ReadOrdering::nic_serialised, nic::ReadOrdering::root_complex, nic::ReadOrdering::speculative}) {
    p.pcie_read_ordering = ordering;
    CHECK(reversed_reads(p, 2000) == 0);
  }
}

TEST_CASE("a speculative read that a write has overtaken is repeated") {
  nic::HardwareProfile p = plain();
  p.pcie_read_ordering = nic::ReadOrdering::speculative;
  std::uint64_t squashed = 0;
  for (int run = 0; run < 200; ++run) {
    Rig rig(p);
    rig.system.create_thread(0);
    rig.system.create_thread(1);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const std::array<nic::Wqe, 2> reads = {rig.read(0, 0), rig.read(8, 8)};
      CHECK(cpu.post_send(rig.qp, reads) == nic::PostResult::ok);
      cpu.stop();
    });
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      cpu.store(rig.remote.base + 8, 1);
      cpu.stop();
    });
    rig.run_random(static_cast<std::uint64_t>(run));
    squashed += rig.system.counters().reads_squashed;
  }
  CHECK(squashed > 0);
}

TEST_CASE("ordered reads cost what the order costs: a round trip, a memory access, or nothing") {
  const auto last_read = [](nic::ReadOrdering ordering) {
    nic::HardwareProfile p = plain();
    p.pcie_read_ordering = ordering;
    Rig rig(p);
    const std::vector<nic::Wqe> reads(4, rig.read(0, 0));
    rig.post_and_run(reads, true);
    sim::SimTime last;
    for (const nic::Subevent& s : rig.recorder.subevents) {
      if (s.stamp == Stamp::aNRR) last = std::max(last, s.at);
    }
    return last.ps;
  };
  const std::int64_t unordered = last_read(nic::ReadOrdering::unordered);
  CHECK(last_read(nic::ReadOrdering::nic_serialised) == unordered + 3 * kRoundTrip);
  CHECK(last_read(nic::ReadOrdering::root_complex) == unordered + 3 * 90'000);
  CHECK(last_read(nic::ReadOrdering::speculative) == unordered);
}
