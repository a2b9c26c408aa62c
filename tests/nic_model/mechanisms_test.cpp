// What profiles can switch on: caches of contexts and the price of a miss, windows of tags
// and credits, device memory, warm, remote and translated memory, and relaxed ordering.
#include <algorithm>
#include <map>
#include <set>

#include "nic_model/engine/key_cache.hpp"
#include "nic_model/engine/window.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/state.hpp"
#include "pair.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

namespace {

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

}  // namespace

TEST_CASE("a bank a slot and two ways: the read states of two queue pairs never displace each other") {
  constexpr std::uint32_t kSlots = 16, kPairs = 100;
  for (std::uint64_t a = 0; a < kPairs; ++a) {
    nic::KeyCache<std::uint64_t> cache(32, 2, kSlots);  // 16 sets: one a slot, the tightest that can hold both
    for (int turn = 0; turn < 3; ++turn) {
      for (const std::uint64_t qp : {a, a + 1}) {
        for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
          CHECK(cache.touch(qp << 16U | slot, slot) == (turn > 0));
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

// The reference keeps each set as a list, newest first. Direct-mapped by one key a set, the hash of keys shows: keys
// that displace each other with one way share a set. Some 40 sets are used in the end, so the cache goes from a search
// through few numbers to a table on the way.
TEST_CASE("a cache of keys is the same while few of its sets are used and when many are") {
  constexpr std::uint32_t kSets = 64;
  constexpr std::size_t kWays = 3;
  const auto share = [](std::uint64_t a, std::uint64_t b) {
    nic::KeyCache<std::uint64_t> direct(kSets, 1);
    direct.touch(a);
    direct.touch(b);
    return !direct.touch(a);
  };
  std::vector<std::vector<std::uint64_t>> sets;
  nic::KeyCache<std::uint64_t> cache(kSets * kWays, kWays);
  sim::Stream random(7, "keys");
  std::size_t hits = 0;
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t key = random.below(100);
    const auto found = std::ranges::find_if(sets, [&](const auto& set) { return key == set[0] || share(set[0], key); });
    std::vector<std::uint64_t>& set = found == sets.end() ? sets.emplace_back() : *found;
    const auto at = std::ranges::find(set, key);
    const bool held = at != set.end();
    if (held) set.erase(at);
    set.insert(set.begin(), key);
    if (set.size() > kWays) set.pop_back();
    REQUIRE(cache.touch(key) == held);
    hits += held ? 1U : 0U;
  }
  CHECK(sets.size() > 32);
  CHECK(hits > 200);
}

TEST_CASE("two caches are equal if they hold the same, in whatever order their sets were used") {
  for (const std::uint64_t keys : {5U, 60U}) {  // few sets, and many
    nic::KeyCache<std::uint64_t> up(4096, 4);
    nic::KeyCache<std::uint64_t> down(4096, 4);
    for (std::uint64_t key = 0; key < keys; ++key) {
      up.touch(key);
      down.touch(keys - 1 - key);
    }
    for (std::uint64_t key = 0; key < keys; ++key) up.touch(key);  // so that those of one set are of one age
    for (std::uint64_t key = 0; key < keys; ++key) down.touch(key);
    CHECK(up == down);
    down.touch(keys);
    CHECK_FALSE(up == down);
    up.touch(keys + 1);
    CHECK_FALSE(up == down);
  }
}

TEST_CASE("the processing unit that is free first is taken, whatever the order in which they were taken") {
  constexpr std::uint32_t kUnits = 5;
  sim::Stream rng(3, "units");
  nic::UnitPool pool;
  std::multiset<std::int64_t> free_at;  // the same by a library's means
  for (int i = 0; i < 1000; ++i) {
    CHECK(pool.free_since(kUnits).ps == (free_at.size() < kUnits ? 0 : *free_at.begin()));
    if (free_at.size() == kUnits) free_at.erase(free_at.begin());
    const auto until = static_cast<std::int64_t>(rng.below(100)) + i;
    free_at.insert(until);
    pool.take(kUnits, sim::SimTime{until});
  }
}

TEST_CASE("a window lets its capacity pass at once, and then who comes waits for the oldest to leave") {
  nic::Window window;
  const auto enter = [&](std::uint64_t units, std::uint64_t capacity, std::int64_t until) {
    const sim::SimTime since = window.take(units, capacity);
    window.give_back(units, capacity, sim::SimTime{until}, sim::SimTime{until}, {});
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
    window.give_back(units, 1024, sim::SimTime{until}, sim::SimTime{until}, {});
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
  nic::Engine engine(state.units(), nullptr);
  state.kernel.advance(sim::SimTime{} + 10_us);
  // Two have credits at once; the next two when these are back, 100 ns later, and have 200 ns to go.
  for (const std::int64_t commits : {10'000'000, 10'000'000, 10'300'000, 10'300'000, 10'600'000, 10'600'000})
    CHECK(nic::take_posted(engine, nic::NicId(0), 256, sim::SimTime{} + 1_us, 200_ns).ps == commits);
}

TEST_CASE("a read's non-posted credit is back once memory has been read, its tag with the data") {
  // Four reads with one of either: one after the other. All wait for the data of those before with a tag; with a credit
  // for the request's way only, 3 ns on the link, 31 + 90 to memory and 37 back, in which the data is through.
  nic::HardwareProfile p = plain();
  p.pcie_rate = {64'000'000'000};  // 8 B/ns
  const auto end = [&](std::uint32_t tags, std::uint32_t credits, std::uint32_t bytes) {
    p.pcie_tags = tags;
    p.pcie_nonposted_credits = credits;
    Rig rig(p);
    for (int i = 0; i < 4; ++i) rig.system.dma_read(0, rig.local, rig.local.base + 192, bytes);
    rig.run();
    CHECK(rig.system.dma_done(0) == 4);
    return rig.system.now().ps;
  };
  constexpr std::int64_t kMore = (256 - 8) * 125;  // ps on the link
  CHECK(end(1, 0, 256) - end(1, 0, 8) == 4 * kMore);
  CHECK(end(0, 1, 256) - end(0, 1, 8) == kMore);
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

TEST_CASE("so many contexts are read at once as the profile says, the next one a round trip later") {
  // Two queue pairs begin at the same instant.
  nic::HardwareProfile p = plain();
  p.nic_context_entries = 64;
  const auto end = [&](std::uint32_t fetches) {
    p.nic_context_fetches = fetches;
    Rig rig(p);
    const nic::QpId second = rig.system.create_qp(0, rig.cq, 16, 0);
    rig.system.connect(second, rig.system.create_qp(1, rig.system.create_cq(1, 1), 1));
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const nic::Wqe wqe = rig.write(0, 0);
      for (const nic::QpId qp : {rig.qp, second}) CHECK(cpu.post_send(qp, {&wqe, 1}) == nic::PostResult::ok);
      cpu.stop();
    });
    rig.run();
    sim::SimTime last;
    for (const nic::SubeventFinish& f : rig.recorder.finishes) last = std::max(last, f.at);
    return last.ps;
  };
  CHECK(end(2) == end(0));
  CHECK(end(1) == end(0) + kRoundTrip);
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
  // A message of four packets over two more pages of the responder's: each packet asks for where it goes.
  const std::uint64_t misses = rig.system.counters().cache_misses;
  CHECK(misses == 2);
  rig.post_and_run({rig.write(0, 4096, 3 * 4096)});
  CHECK(rig.system.counters().cache_misses - misses == 3);
}

TEST_CASE("the data of answers needs a part of the context of its own, a SEND no translation at its responder") {
  nic::HardwareProfile p = plain();
  p.nic_context_entries = 64;
  Rig rig(p);
  rig.post_and_run({rig.write(0, 0)});
  CHECK(rig.system.counters().cache_misses == 2);
  rig.post_and_run({rig.read(0, 0), rig.fetch_add(8, 8, 1)});
  CHECK(rig.system.counters().cache_misses == 3);
  p.nic_context_entries = 0;
  p.nic_translation_entries = 64;
  Pair pair(p);
  CHECK(pair.receive(1, 0, 64));
  pair.post({pair.send(0, 64)});
  pair.run();
  CHECK(pair.statuses(1) == std::vector{nic::Status::success});
  CHECK(pair.system.counters().cache_misses == 1);  // of its payload
}

TEST_CASE("what a message misses is read one after the other, and what waits for it loses no more than that") {
  // The requester's read of the payload and the responder's write begin a read(context_bytes) late, for each that is
  // missing: docs/hardware.md. One at a time is as fast, as they follow each other.
  nic::HardwareProfile p = plain();
  p.pcie_rate = {64'000'000'000};  // 8 B/ns
  p.nic_context_bytes = 256_B;
  constexpr std::int64_t kRead = kRoundTrip + (24 + 256 + 20) * 125;
  const sim::Duration held = write_time(p);
  const bool context = GENERATE(false, true), translation = GENERATE(false, true);
  p.nic_context_entries = context ? 64 : 0;
  p.nic_translation_entries = translation ? 64 : 0;
  p.nic_context_fetches = GENERATE(0U, 1U);
  CAPTURE(context, translation, p.nic_context_fetches);
  CHECK(write_time(p).ps - held.ps == 2 * (int{context} + int{translation}) * kRead);
}

TEST_CASE("a translation covers the page that the profile says") {
  nic::HardwareProfile p = plain();
  p.nic_translation_entries = 64;
  p.nic_translation_page = 16_KiB;
  Rig rig(p);
  rig.post_and_run({rig.write(0, 0), rig.write(0, 8192)});
  CHECK(rig.system.counters().cache_misses == 2);  // one page at either side
}

TEST_CASE("each READ that may be outstanding has a state of its own, used in turn") {
  nic::HardwareProfile p = plain();
  p.nic_max_rd_atomic = 4;
  p.nic_read_state_entries = 8;
  Rig rig(p);
  rig.post_and_run({rig.read(0, 0), rig.read(8, 8), rig.write(0, 0)});
  CHECK(rig.system.counters().cache_misses == 2);
  rig.post_and_run(std::vector<nic::Wqe>(16, rig.read(0, 0)));
  CHECK(rig.system.counters().cache_misses == 4);
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

TEST_CASE("READs of memory on the NIC need no tag, others wait for it") {
  for (const bool device : {false, true}) {
    const auto end = [&](std::uint32_t tags) {
      nic::HardwareProfile p = plain();
      p.pcie_tags = tags;
      Rig rig(p);
      const nic::MemoryRegion source =
          rig.system.register_memory(1, rig.system.allocate(1, 4096), 4096, nic::kAllAccess, {.device = device});
      CHECK(rig.post_and_run(std::vector<nic::Wqe>(4, towards(source, rig.read(0, 0))), true).size() == 4);
      return rig.recorder.cqes.back().at;
    };
    CHECK((end(1) == end(0)) == device);
  }
}

TEST_CASE("warm, remote and translated memory: the published differences") {
  nic::HardwareProfile p = plain();
  const sim::Duration base = write_time(p);
  p.pcie_warm_saving = 70_ns;
  CHECK(write_time(p) == base);
  p.pcie_cpu_cache = {1 << 20};
  // Less for the fetch of the work request, the read of the payload, the write.
  CHECK(write_time(p).ps == base.ps - 3 * 70'000);
  p.pcie_cpu_cache = {1 << 16};  // what the two regions have
  CHECK(write_time(p).ps == base.ps - 3 * 70'000);
  p.pcie_cpu_cache = {(1 << 16) - 1};
  CHECK(write_time(p).ps == base.ps - 70'000);
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

TEST_CASE("an access up to the end of a page asks the IOMMU for that page and no other") {
  nic::HardwareProfile p = plain();
  const sim::Duration base = write_time(p);
  p.pcie_iommu = true;
  p.pcie_iommu_window = 256_KiB;
  p.pcie_iommu_penalty = 280_ns;
  Rig rig(p);
  const std::uint64_t page = 4096 - rig.remote.base % 4096;
  CHECK((written(rig, {rig.write(0, page - 8)}) - sim::SimTime{}).ps == base.ps + 2 * 280'000);
  CHECK((written(rig, {rig.write(0, page)}) - sim::SimTime{}).ps == base.ps + 280'000);
  CHECK((written(rig, {rig.write(0, page - 8, 16)}) - sim::SimTime{}).ps == base.ps);
}

namespace {
/// When memory of node 1 had the last of this write.
sim::SimTime all_written(Rig& rig, const nic::Wqe& wqe) {
  rig.post_and_run({wqe});
  sim::SimTime last;
  for (const nic::SubeventFinish& f : rig.recorder.finishes) last = std::max(last, f.at);
  return last;
}
}  // namespace

TEST_CASE("each TLP of a write takes credits, those to memory on the NIC none") {
  nic::HardwareProfile p = plain();
  for (const bool device : {false, true}) {
    const auto time = [&](std::uint64_t credits) {
      p.pcie_posted_credits = {credits};
      Rig rig(p);
      const nic::MemoryRegion target =
          rig.system.register_memory(1, rig.system.allocate(1, 2048), 2048, nic::kAllAccess, {.device = device});
      nic::Wqe wqe = towards(target, rig.write(0, 0, 1024));
      wqe.remote += (256 - wqe.remote % 256) % 256;
      return all_written(rig, wqe);
    };
    // One TLP's credits: the next goes when they are back, 37 ns after the last one's commit, and takes 31 + 85 ns.
    CHECK((time(256) - time(0)).ps == (device ? 0 : 3 * (37 + 31 + 85) * 1000));
  }
}

TEST_CASE("with relaxed ordering, too, each TLP of a message reaches memory once, in whatever order") {
  // Those that are there before the oldest leave their domain with it, and are not committed again.
  constexpr std::uint32_t kSize = 1000;  // four TLPs and more
  const auto run = [](bool relaxed, std::uint64_t seed) {
    Rig rig(plain());
    const nic::MemoryRegion target = rig.system.register_memory(1, rig.system.allocate(1, 4096), 4096, nic::kAllAccess,
                                                                {.relaxed_ordering = relaxed});
    rig.fill(0, 0, std::vector<std::uint8_t>(kSize, 7));
    rig.post(std::vector<nic::Wqe>(4, towards(target, rig.write(0, 0, kSize))));
    rig.run_random(seed);
    std::vector<std::byte> there(kSize);
    rig.system.read_memory(1, target.base, there);
    CHECK(there == std::vector<std::byte>(kSize, std::byte{7}));
    return rig.system.counters().events;
  };
  const std::uint64_t events = run(false, 1);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    CHECK(run(false, seed) == events);
    CHECK(run(true, seed) == events);
  }
}

TEST_CASE("a write to a region with relaxed ordering may pass an earlier write, others never do") {
  const bool relaxed = GENERATE(false, true);
  int passed = 0;
  for (int run = 0; run < 500; ++run) {
    Rig rig(plain());
    const nic::MemoryRegion second =
        rig.system.register_memory(1, rig.system.allocate(1, 64), 64, nic::kAllAccess, {.relaxed_ordering = relaxed});
    rig.fill(0, 0, {1});
    rig.post({rig.write(0, 0), towards(second, rig.write(0, 0))});
    bool early = false;
    rig.run_random(static_cast<std::uint64_t>(run), nullptr,
                   [&] { early |= rig.system.word(1, second.base) == 1 && rig.system.word(1, rig.remote.base) == 0; });
    CHECK(rig.system.word(1, second.base) == 1);
    passed += early;
  }
  CHECK((passed > 0) == relaxed);
}

TEST_CASE("each word of a write to a region with relaxed ordering has a subevent of its own, which finishes once") {
  Rig rig(plain());
  rig.remote = rig.system.register_memory(1, rig.remote.base, 4096, nic::kAllAccess, {.relaxed_ordering = true});
  std::vector<std::uint8_t> content(600);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i / 8 + 1);
  rig.fill(0, 0, content);
  rig.post_and_run({rig.write(0, 64, 600)});
  std::map<nic::SubeventId, std::uint64_t> expected, finished;
  for (const nic::Subevent& s : rig.recorder.subevents)
    if (s.stamp == Stamp::aNRW) expected[s.id] = s.value;
  for (const nic::SubeventFinish& f : rig.recorder.finishes) {
    CHECK_FALSE(finished.contains(f.id));
    finished[f.id] = f.value;
  }
  CHECK(expected.size() == 75);
  CHECK((finished == expected));
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
    rig.post({rig.write(0, kFrom, kBytes)});
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

TEST_CASE("a NIC has as much memory for regions as its profile says, each node its own") {
  nic::HardwareProfile p = plain();
  p.nic_device_memory = {128};
  Rig rig(p);
  const auto region = [&rig](nic::NodeId node, std::uint64_t size, bool device) {
    rig.system.register_memory(node, rig.system.allocate(node, size), size, nic::kAllAccess, {.device = device});
  };
  CHECK_NOTHROW(region(1, 64, true));
  CHECK_THROWS_WITH(region(1, 65, true),
                    "node 1: no room for 65 bytes of device memory, 64 of 128 are taken (nic.device_memory)");
  CHECK_NOTHROW(region(1, 64, true));
  CHECK_THROWS_AS(region(1, 1, true), std::invalid_argument);
  CHECK_NOTHROW(region(1, 4096, false));
  CHECK_NOTHROW(region(0, 128, true));
}
