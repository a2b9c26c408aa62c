// What profiles can switch on: caches of contexts and the price of a miss, processing units in turn, windows of tags
// and credits, device memory, warm, remote and translated memory, relaxed ordering, and the order of PCIe reads.
#include <algorithm>
#include <catch2/catch.hpp>

#include "nic_model/flow_control.hpp"
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

TEST_CASE("a window lets its capacity pass at once, and then who comes waits for the oldest to leave") {
  nic::Window window;
  const auto enter = [&](std::uint64_t units, std::uint64_t capacity, std::int64_t until) {
    const sim::SimTime since = window.take(units, capacity);
    window.give_back(units, capacity, sim::SimTime{until}, {});
    return since.ps;
  };
  for (int i = 1; i <= 4; ++i) CHECK(enter(1, 4, 1000 + 100 * i) == 0);
  CHECK(enter(1, 4, 2000) == 1100);
  CHECK(enter(1, 4, 2100) == 1200);
  CHECK(enter(3, 4, 3000) == 2000);  // behind two of the first four and the fifth; the sixth stays
  CHECK(enter(9, 4, 4000) == 3000);  // more than there are: all of them
  CHECK(enter(1, 4, 5000) == 4000);
  CHECK(enter(1000, 0, 5000) == 0);  // no limit
}

TEST_CASE("what is left of a use that made room stays in use") {
  nic::Window window;
  const auto enter = [&](std::uint64_t units, std::int64_t until) {
    const sim::SimTime since = window.take(units, 1024);
    window.give_back(units, 1024, sim::SimTime{until}, {});
    return since.ps;
  };
  CHECK(enter(512, 1000) == 0);
  CHECK(enter(512, 2000) == 0);
  for (int i = 0; i < 8; ++i) CHECK(enter(64, 9000) == 1000);  // 8 * 64 units of the first
  CHECK(enter(64, 9000) == 2000);
}

TEST_CASE("a write that has waited behind others takes its credits when it goes on") {
  nic::SystemConfig config{.profile = plain(), .nodes = 1};
  config.profile.pcie_posted_credits = {512};
  config.profile.pcie_rate = {0};
  config.profile.pcie_downstream = 100_ns;
  nic::State state(config);
  nic::Engine engine(state, nullptr);
  state.now = sim::SimTime{} + 10_us;
  // Two have credits at once; the next two when these are back, 100 ns later, and have 200 ns to go.
  for (const std::int64_t commits : {10'000'000, 10'000'000, 10'300'000, 10'300'000, 10'600'000, 10'600'000})
    CHECK(nic::take_posted(engine, 0, 256, sim::SimTime{} + 1_us, 200_ns).ps == commits);
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

TEST_CASE("a context is read in requests of at most the MRRS and completions of at most the RCB's multiple") {
  nic::HardwareProfile p = plain();
  p.pcie_mrrs = 128_B;
  p.pcie_read_completion = 64_B;
  const auto count = [](const nic::HardwareProfile& profile) {
    Rig rig(profile);
    rig.post_and_run({rig.write(0, 0)});
    return rig.system.counters();
  };
  const nic::Counters held = count(p);
  p.nic_context_entries = 64;
  const nic::Counters missed = count(p);
  CHECK(missed.tlps_up - held.tlps_up == 2 * 2);  // 256 bytes at either side
  CHECK(missed.tlps_down - held.tlps_down == 2 * 4);
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

TEST_CASE("TLPs of one write to a region with relaxed ordering may pass each other; it costs what it costs in order") {
  constexpr std::uint64_t kFrom = 1024 - 20;  // 20 bytes, two whole TLPs, 5 bytes
  constexpr std::uint32_t kBytes = 20 + 2 * 256 + 5;
  const bool relaxed = GENERATE(false, true);
  nic::HardwareProfile p = plain();
  p.pcie_rate = 8_Gbps;
  const auto rig_of = [&](bool loose) {
    Rig rig(p);
    rig.remote = rig.system.register_memory(1, rig.remote.base, 4096, nic::kAllAccess, {.relaxed_ordering = loose});
    rig.fill(0, 0, std::vector<std::uint8_t>(kBytes, 0xff));
    return rig;
  };
  const auto first_and_last = [&](const Rig& rig) {
    return std::pair{rig.bytes(1, kFrom, 1)[0] != 0, rig.bytes(1, kFrom + kBytes - 1, 1)[0] != 0};
  };
  int passed = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Rig rig = rig_of(relaxed);
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const std::array<nic::Wqe, 1> writes = {rig.write(0, kFrom, kBytes)};
      CHECK(cpu.post_send(rig.qp, writes) == nic::PostResult::ok);
      cpu.stop();
    });
    bool early = false;
    rig.run_random(run, nullptr, [&] { early |= first_and_last(rig) == std::pair{false, true}; });
    CHECK(rig.bytes(1, kFrom, kBytes) == std::vector<std::uint8_t>(kBytes, 0xff));
    CHECK(rig.bytes(1, kFrom + kBytes, 1)[0] == 0);
    passed += early;
  }
  CHECK((passed > 0) == relaxed);
  const auto committed = [&](bool loose) {
    Rig rig = rig_of(loose);
    rig.post_and_run({rig.write(0, kFrom, kBytes)});
    sim::SimTime last;
    for (const nic::SubeventFinish& f : rig.recorder.finishes) last = std::max(last, f.at);
    return std::pair{rig.recorder.finishes.size(), last.ps};
  };
  CHECK(committed(relaxed) == committed(false));
}

namespace {

constexpr std::uint64_t kBlock = 4096, kBlocks = 8;  // of each queue pair, and 8 bytes behind them

/// Which of the READs below has been read when: its first and its last word, by time and by order.
struct Spans : nic::Observer {
  struct Span {
    sim::SimTime first, last;
    std::size_t from = 0, words = 0;
  };
  nic::Address base = 0;
  std::array<std::array<Span, kBlocks + 1>, 2> of{};
  std::size_t words = 0;

  void on_subevent(const nic::Subevent& s) override {
    if (s.stamp != Stamp::aNRR) return;
    const std::uint64_t block = (s.address - base) / kBlock;
    Span& span = of[block / (kBlocks + 1)][block % (kBlocks + 1)];
    if (span.words++ == 0) {
      span.first = s.at;
      span.from = words;
    }
    span.last = s.at;
    ++words;
  }
};

/// Two queue pairs READ eight blocks of 4 KiB each, and behind them 8 bytes.
struct Blocks {
  explicit Blocks(nic::HardwareProfile p)
      : rig((p.nic_max_rd_atomic = 16, p), fabric::Topology::back_to_back, 2 * (kBlocks + 1) * kBlock) {
    spans.base = rig.remote.base;
    const nic::QpId other = rig.system.create_qp(0, rig.cq, 16, 0);
    rig.system.connect(other, rig.system.create_qp(1, rig.system.create_cq(1, 1), 1));
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([this, other](nic::Cpu& cpu) {
      for (const std::uint64_t qp : {0U, 1U}) {
        std::vector<nic::Wqe> reads;
        for (std::uint64_t i = 0; i <= kBlocks; ++i) {
          const std::uint64_t at = (qp * (kBlocks + 1) + i) * kBlock;
          reads.push_back(rig.read(at, at, i < kBlocks ? kBlock : 8));
        }
        CHECK(cpu.post_send(qp == 0 ? rig.qp : other, reads) == nic::PostResult::ok);
      }
      cpu.stop();
    });
  }

  Rig rig;
  Spans spans;
};

}  // namespace

TEST_CASE("READs of a queue pair take turns on PCIe, however many share it; queue pairs do not wait for each other") {
  nic::HardwareProfile p = plain();
  p.pcie_rate = 8_Gbps;  // slower than the requests come
  Blocks blocks(p);
  nic::Context context{blocks.rig.scripts, &blocks.spans};
  while (blocks.rig.system.step(context)) {
  }
  const std::int64_t step = (256 + 20) * 1000;  // a completion on the link
  for (const auto& reads : blocks.spans.of) {
    for (std::size_t i = 1; i < reads.size(); ++i) {
      CHECK(reads[i].first > reads[i - 1].last);                   // not before its turn
      CHECK((reads[i].first - reads[i - 1].last).ps <= 2 * step);  // and then at once: the other has a step between
    }
  }
  CHECK(blocks.spans.of[1][0].first < blocks.spans.of[0][0].last);
}

TEST_CASE("taking turns is a delay: when any event may be next, a READ may pass the long one in front of it") {
  int long_passed = 0, short_passed = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Blocks blocks(plain());
    nic::System& system = blocks.rig.system;
    nic::Context context{blocks.rig.scripts, &blocks.spans};
    for (std::uint64_t i = 0; i < run; ++i) system.step(context);  // also from the middle of a timed run
    std::uint64_t random = run;
    for (std::uint64_t i = 0; !system.idle() && i < 20 * run; ++i) {  // and back
      random = random * 6364136223846793005U + 1442695040888963407U;
      system.step(context, (random >> 33U) % system.pending_events());
    }
    while (system.step(context)) {
    }
    CHECK(system.now() < sim::SimTime{} + 1_ms);
    CHECK(blocks.spans.words == 2 * (kBlocks * kBlock / 8 + 1));
    const auto& reads = blocks.spans.of[0];
    long_passed += reads[1].from < reads[0].from;
    short_passed += reads[kBlocks].from < reads[kBlocks - 1].from;
  }
  CHECK(long_passed > 0);
  CHECK(short_passed > 0);
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

TEST_CASE("speculation that does not fail costs nothing: long READs of queue pairs that share link and tags, too") {
  const std::uint32_t tags = GENERATE(0U, 1U, 3U, 8U);
  const auto spans = [tags](nic::ReadOrdering ordering) {
    nic::HardwareProfile p = plain();
    p.pcie_rate = 8_Gbps;
    p.pcie_tags = tags;
    p.pcie_read_ordering = ordering;
    Blocks blocks(p);
    nic::Context context{blocks.rig.scripts, &blocks.spans};
    while (blocks.rig.system.step(context)) {
    }
    CHECK(blocks.rig.system.counters().reads_squashed == 0);
    CHECK(blocks.spans.words == 2 * (kBlocks * kBlock / 8 + 1));
    return blocks.spans.of;
  };
  const auto unordered = spans(nic::ReadOrdering::unordered);
  const auto speculative = spans(nic::ReadOrdering::speculative);
  for (std::size_t qp = 0; qp < 2; ++qp) {
    for (std::size_t i = 0; i <= kBlocks; ++i) {
      CAPTURE(tags, qp, i);
      CHECK(speculative[qp][i].first.ps == unordered[qp][i].first.ps);
      CHECK(speculative[qp][i].last.ps == unordered[qp][i].last.ps);
    }
  }
}

TEST_CASE("a READ ahead of its turn takes effect in it; if a write has overtaken it, an access later") {
  nic::HardwareProfile p = plain();
  p.pcie_read_ordering = nic::ReadOrdering::speculative;
  p.nic_device_access = 20_ns;
  // READs host memory, then the NIC's, which is there sooner; returns when each has been read, and what the second got.
  const auto run = [&](sim::SimTime store_at) {
    Rig rig(p);
    const nic::MemoryRegion near =
        rig.system.register_memory(1, rig.system.allocate(1, 64), 64, nic::kAllAccess, {.device = true});
    rig.system.create_thread(0);
    rig.system.create_thread(1, store_at);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      std::array<nic::Wqe, 2> reads = {rig.read(0, 0), rig.read(8, 0)};
      reads[1].rkey = near.rkey;
      reads[1].remote = near.base;
      CHECK(cpu.post_send(rig.qp, reads) == nic::PostResult::ok);
      cpu.stop();
    });
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      cpu.store(near.base, 1);
      cpu.stop();
    });
    rig.run();
    std::vector<sim::SimTime> at;
    for (const nic::Subevent& s : rig.recorder.subevents) {
      if (s.stamp == Stamp::aNRR) at.push_back(s.at);
    }
    REQUIRE(at.size() == 2);
    CHECK(rig.system.word(0, rig.local.base + 8) == 1);
    return std::pair{at[0], at[1]};
  };
  const auto [host, near] = run({});
  CHECK(near == host);
  const sim::Duration way = 31_ns + 90_ns;  // of the first READ, from its request
  CHECK(run(host - way + 19_ns).second == host);
  CHECK(run(host - way + 21_ns).second == host + 20_ns);
}

TEST_CASE("ordered reads cost what the order costs: a round trip, a memory access, or nothing") {
  const bool warm = GENERATE(false, true), device = GENERATE(false, true);
  const auto last_read = [&](nic::ReadOrdering ordering) {
    nic::HardwareProfile p = plain();
    p.pcie_warm_saving = 70_ns;
    if (warm) p.pcie_cpu_cache = 1_MiB;
    p.nic_device_access = 20_ns;
    p.pcie_read_ordering = ordering;
    Rig rig(p);
    rig.remote = rig.system.register_memory(1, rig.remote.base, 4096, nic::kAllAccess, {.device = device});
    const std::vector<nic::Wqe> reads(4, rig.read(0, 0));
    rig.post_and_run(reads, true);
    sim::SimTime last;
    for (const nic::Subevent& s : rig.recorder.subevents) {
      if (s.stamp == Stamp::aNRR) last = std::max(last, s.at);
    }
    return last.ps;
  };
  const std::int64_t access = device ? 20'000 : (warm ? 90 - 70 : 90) * 1000;
  const std::int64_t round_trip = device ? access : (31 + 37) * 1000 + access;
  const std::int64_t unordered = last_read(nic::ReadOrdering::unordered);
  CHECK(last_read(nic::ReadOrdering::nic_serialised) == unordered + 3 * round_trip);
  CHECK(last_read(nic::ReadOrdering::root_complex) == unordered + 3 * access);
  CHECK(last_read(nic::ReadOrdering::speculative) == unordered);
}
