// TLPs that share an event (SystemConfig::timed) take place at the times, in the order and with the values of TLPs that
// have an event each: random programs that read, write and watch memory which PCIe is reading and writing, run both
// ways.
#include <array>
#include <string>
#include <vector>

#include "fabric/config.hpp"
#include "nic_model/system.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::sim::literals;

namespace bursts {

constexpr std::uint32_t kNodes = 3;
constexpr std::uint64_t kBytes = 96U << 10U;
constexpr std::uint32_t kOutstanding = 8;

/// What a thread has seen, and when.
struct Seen {
  std::int64_t at = 0;
  nic::ThreadId thread = 0;
  std::uint64_t value = 0;

  bool operator==(const Seen&) const = default;
};

struct Worker {
  std::array<nic::QpId, 2> qps{};
  std::array<nic::MemoryRegion, 2> remote{};
  nic::MemoryRegion local{};
  nic::CqId cq = 0;
  std::uint32_t outstanding = 0;
  std::uint32_t left = 60;  // turns
};

struct Workers : nic::ThreadRunner {
  std::vector<Worker> all{};
  std::vector<Seen> log{};
  sim::Stream random;

  explicit Workers(std::uint64_t seed) : random(seed, "bursts") {}

  void see(const nic::Cpu& cpu, nic::ThreadId id, std::uint64_t value) { log.push_back({cpu.now().ps, id, value}); }

  void post(nic::Cpu& cpu, Worker& w) {
    const std::uint64_t which = random.below(2);
    const std::uint64_t kind = random.below(8);
    nic::Wqe wqe{.opcode = kind < 5 ? nic::Opcode::rdma_write : nic::Opcode::rdma_read};
    wqe.length = static_cast<std::uint32_t>(1 + random.below(kind % 2 == 0 ? 300 : 20'000));
    if (kind == 7) {
      wqe.opcode = nic::Opcode::fetch_add;
      wqe.length = 8;
      wqe.compare_add = 1;
    }
    const auto place = [&](const nic::MemoryRegion& region) {
      return region.base + random.below((kBytes - wqe.length) / 8) * 8;
    };
    wqe.local = place(w.local);
    wqe.lkey = w.local.lkey;
    wqe.remote = place(w.remote[which]);
    wqe.rkey = w.remote[which].rkey;
    if (cpu.post_send(w.qps[which], {&wqe, 1}) == nic::PostResult::ok) ++w.outstanding;
  }

  void access(nic::Cpu& cpu, nic::ThreadId id, Worker& w) {
    const nic::Address first = w.local.base + random.below(kBytes / 8 - 32) * 8;
    if (random.below(3) == 0 && !cpu.store_buffer_full()) return cpu.store(first, random.below(1U << 30U), 0);
    for (std::uint64_t i = 0, words = 1 + random.below(24); i < words; ++i) see(cpu, id, cpu.load(first + 8 * i, 0));
  }

  void run(nic::Cpu& cpu) override {
    const nic::ThreadId id = cpu.node();
    Worker& w = all[id];
    std::array<nic::Cqe, kOutstanding> cqes;
    const std::size_t taken = cpu.poll_cq(w.cq, cqes);
    for (std::size_t i = 0; i < taken; ++i)
      see(cpu, id, static_cast<std::uint64_t>(cqes[i].status) << 32U | cqes[i].wqe);
    w.outstanding -= static_cast<std::uint32_t>(taken);
    if (w.left == 0 && w.outstanding == 0) return cpu.stop();
    if (w.left > 0) --w.left;
    if (w.left > 0 && w.outstanding < kOutstanding && random.below(2) == 0) post(cpu, w);
    for (std::uint64_t i = random.below(3); i > 0; --i) access(cpu, id, w);
    if (w.outstanding > 0 && random.below(2) == 0) return cpu.pause(17_ns);
    cpu.forget_watched();
    cpu.resume_after(sim::Duration{static_cast<std::int64_t>(1 + random.below(1'500'000))});
  }
};

struct Outcome {
  std::vector<Seen> log{};
  std::vector<std::byte> memory{};
  nic::Counters counters{};
  std::vector<nic::Usage> usage{};
  sim::SimTime end{};

  bool operator==(const Outcome&) const = default;
};

inline Outcome run(nic::SystemConfig config, std::uint64_t seed, bool timed) {
  config.timed = timed;
  nic::System system(config);
  Workers workers(seed);
  std::vector<nic::MemoryRegion> regions;
  for (nic::NodeId node = 0; node < kNodes; ++node) {
    constexpr std::uint8_t kAll = nic::kLocalWrite | nic::kRemoteRead | nic::kRemoteWrite | nic::kRemoteAtomic;
    regions.push_back(system.register_memory(node, system.allocate(node, kBytes), kBytes, kAll));
    for (nic::Address at = 0; at < kBytes; at += 8) system.set_word(node, regions[node].base + at, node * kBytes + at);
    system.create_thread(node);
    Worker& w = workers.all.emplace_back();
    w.cq = system.create_cq(node, 64);
    w.local = regions[node];
  }
  for (nic::NodeId node = 0; node < kNodes; ++node) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const nic::NodeId peer = (node + 1 + i) % kNodes;
      Worker& w = workers.all[node];
      w.remote[i] = regions[peer];
      w.qps[i] = system.create_qp(node, w.cq, kOutstanding, node);
      system.connect(w.qps[i], system.create_qp(peer, workers.all[peer].cq, 1, peer));
    }
  }
  nic::Context context{workers};
  while (system.step(context)) {
  }
  Outcome outcome{.log = std::move(workers.log), .counters = system.counters(), .end = system.now()};
  outcome.usage = system.usage(outcome.end - sim::SimTime{}, 100);
  for (nic::NodeId node = 0; node < kNodes; ++node) {
    outcome.memory.resize(outcome.memory.size() + kBytes);
    system.read_memory(node, regions[node].base, std::span(outcome.memory).last(kBytes));
  }
  return outcome;
}

/// Of the sizes of a 100 Gb/s NIC; no two of its times have a common measure.
inline nic::SystemConfig hundred_gigabit() {
  nic::HardwareProfile p;
  p.link_ideal = false;
  p.link_rate = 97_Gbps;
  p.link_delay = 41_ns;
  p.switch_latency = 301_ns;
  p.pcie_rate = 113_Gbps;
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_upstream = 103_ns;
  p.pcie_downstream = 107_ns;
  p.pcie_read_access = 149_ns;
  p.pcie_write_commit = 151_ns;
  p.cpu_store_drain = 7_ns;
  p.nic_wqe_start = 53_ns;
  p.nic_transmit = 61_ns;
  p.nic_receive = 67_ns;
  return {.profile = p, .nodes = kNodes};
}

inline void compare(const nic::SystemConfig& config, std::uint64_t seeds) {
  if (test::kShare > 1) seeds /= 4;  // sanitized: all go the same way
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const Outcome apart = run(config, seed, false);
    const Outcome together = run(config, seed, true);
    REQUIRE(apart.log.size() > 30);
    CHECK(apart.log == together.log);
    CHECK(apart.memory == together.memory);
    CHECK(apart.counters == together.counters);
    CHECK(apart.usage == together.usage);
    CHECK(apart.end == together.end);
    steps += apart.counters.tlps_down;
  }
  CHECK(steps > 100 * seeds);
}

}  // namespace bursts

using bursts::compare;
using bursts::hundred_gigabit;

TEST_CASE("TLPs that share an event change no time, value or counter") { compare(hundred_gigabit(), 40); }

TEST_CASE("nor do they with few tags and credits for reads") {
  nic::SystemConfig config = hundred_gigabit();
  config.profile.pcie_tags = 2;
  config.profile.pcie_completion_credits = {1024};
  compare(config, 20);
}

TEST_CASE("nor where an IOMMU holds few pages and walks one table at a time") {
  nic::SystemConfig config = hundred_gigabit();
  config.profile.pcie_iommu = true;
  config.profile.pcie_iommu_window = {8192};
  config.profile.pcie_iommu_walks = 1;
  compare(config, 20);
}

TEST_CASE("nor in an ordering domain for each queue pair, with small TLPs and packets") {
  nic::SystemConfig config = hundred_gigabit();
  config.profile.pcie_ordering_domain = nic::OrderingDomain::qp;
  config.profile.pcie_mps = {128};
  config.profile.pcie_read_completion = {64};
  config.profile.link_mtu = {1024};
  compare(config, 20);
}

// A burst goes on over several packets while earlier ones are still to leave, and ends early where the next packet has
// caught up with it.
TEST_CASE("nor where reads run far ahead of packets, and where packets catch up with them") {
  nic::SystemConfig ahead = hundred_gigabit();
  ahead.profile.link_rate = 29_Gbps;
  ahead.profile.link_mtu = {1024};
  compare(ahead, 20);
  nic::SystemConfig caught = hundred_gigabit();
  caught.profile.pcie_rate = 101_Gbps;
  caught.profile.link_mtu = {1024};
  compare(caught, 20);
  caught.profile.pcie_rate = 61_Gbps;
  compare(caught, 10);
}

TEST_CASE("nor where a receive buffer fills and pauses the link") {
  nic::SystemConfig config = hundred_gigabit();
  config.profile.nic_receive_buffer = {16'384};
  config.profile.pcie_rate = {20'000'000'000};
  compare(config, 20);
}

TEST_CASE("nor where packets are lost and come again") {
  nic::SystemConfig config = hundred_gigabit();
  config.network.options.loss = 20'000;
  config.network.seed = 3;
  compare(config, 20);
}

TEST_CASE("nor where packets are placed out of order, and those that are lost are repeated alone") {
  nic::SystemConfig config = hundred_gigabit();
  config.profile.nic_placement = nic::Placement::out_of_order;
  config.network.options.loss = 20'000;
  config.network.seed = 4;
  compare(config, 20);
}
