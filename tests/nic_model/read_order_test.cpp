// The order of PCIe reads: READs of a queue pair that take turns, and what hardware that keeps them in order would
// cost.
#include <algorithm>

#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

namespace {

/// Runs random schedules of: node 1 stores x = 1, then y = 1; node 0 READs y and, right behind it, x. How many saw y
/// without x?
int reversed_reads(const nic::HardwareProfile& profile, int runs) {
  int reversed = 0;
  for (int run = 0; run < runs; ++run) {
    Rig rig(profile);
    const nic::Address x = rig.remote.base, y = rig.remote.base + 512;
    rig.post({rig.read(8, 512), rig.read(0, 0)});
    rig.system.create_thread(1);
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
    rig.post({rig.read(0, 0), towards(near, rig.read(8, 0))});
    rig.system.create_thread(1, store_at);
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
