// A machine in parts against the whole of it (docs/parallel-runs.md): a permutation of the hosts of a fat tree with 1
// us cables, hosts with PCIe and memory, simulated by one thread and by several.
//   bench_parts [K [BYTES [PARTS]]]      k = 16 (1,024 hosts), 500,000 bytes from each host, 2 parts without arguments
// Prints times of the wall and of the processor: which of them can be had depends on how many processors are free. What
// does not depend on that: the processor time of the busiest part against that of the whole.
// Exit code 1 when the parts do not do what the whole does.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "nic_model/parts.hpp"

using namespace loco;

namespace {

constexpr std::uint32_t kMessage = 65'536;
constexpr std::uint32_t kOutstanding = 4;
constexpr std::uint64_t kRegistered = 1U << 20U;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

nic::HardwareProfile profile() {
  nic::HardwareProfile p;
  p.link_ideal = false;
  p.nic_word_order = nic::WordOrder::ascending;
  p.link_rate = sim::BitsPerSecond{100'000'000'000};
  p.link_delay = sim::Duration{1'000'000};
  p.switch_latency = sim::Duration{300'000};
  p.pcie_rate = sim::BitsPerSecond{113'700'000'000};
  p.pcie_mps = sim::Bytes{256};
  p.pcie_read_completion = sim::Bytes{256};
  p.pcie_upstream = p.pcie_downstream = sim::Duration{100'000};
  p.pcie_read_access = sim::Duration{150'000};
  p.pcie_write_commit = sim::Duration{150'000};
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  return p;
}

struct Sender {
  nic::QpId qp = 0;
  nic::CqId cq = 0;
  nic::Wqe wqe;
  std::uint64_t left = 0;  // bytes
  std::uint32_t outstanding = 0;
};

/// A part, with a thread a host that keeps messages outstanding until everything is sent. Says what it took.
struct Part final : nic::ThreadRunner {
  Part(const nic::SystemConfig& config, std::uint64_t bytes) : system(config) {
    const std::uint32_t hosts = config.nodes;
    std::vector<nic::MemoryRegion> regions;
    for (nic::NodeId node = 0; node < hosts; ++node) {
      regions.push_back(system.register_memory(node, system.allocate(node, kRegistered), kRegistered));
      system.create_thread(node);
      Sender& s = all.emplace_back();
      s.cq = system.create_cq(node, 2 * kOutstanding);
      s.left = bytes;
    }
    for (nic::NodeId node = 0; node < hosts; ++node) {  // every path goes through the core
      const nic::NodeId peer = (node + hosts / 2) % hosts;
      Sender& s = all[node];
      s.qp = system.create_qp(node, s.cq, kOutstanding, node);
      system.connect(s.qp, system.create_qp(peer, all[peer].cq, 1));
      s.wqe = {.opcode = nic::Opcode::rdma_write,
               .lkey = regions[node].lkey,
               .rkey = regions[peer].rkey,
               .local = regions[node].base,
               .remote = regions[peer].base};
    }
  }

  void run(nic::Cpu& cpu) override {
    cpu_used = cpu_seconds();  // of its thread
    Sender& s = all[cpu.node()];
    std::array<nic::Cqe, kOutstanding> cqes;
    const std::size_t taken = cpu.poll_cq(s.cq, cqes);
    for (std::size_t i = 0; i < taken; ++i) failed += cqes[i].status == nic::Status::success ? 0U : 1U;
    s.outstanding -= static_cast<std::uint32_t>(taken);
    for (; s.left > 0 && s.outstanding < kOutstanding; ++s.outstanding) {
      s.wqe.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.left, kMessage));
      s.left -= s.wqe.length;
      cpu.post_send(s.qp, {&s.wqe, 1});
    }
    if (s.outstanding == 0) return cpu.stop();
    cpu.pause({});
  }

  nic::System system;
  nic::Context context{*this};
  std::vector<Sender> all;
  std::uint64_t failed = 0;
  double cpu_used = 0;
};

struct Took {
  double wall = 0, busiest = 0, total = 0;
  nic::Counters counters{};
  sim::SimTime end{};
  std::uint64_t failed = 0;
};

Took measure(const nic::SystemConfig& config, std::uint64_t bytes, const std::vector<std::uint8_t>& part_of) {
  const std::size_t parts = part_of.empty() ? 1 : *std::ranges::max_element(part_of) + std::size_t{1};
  std::vector<std::unique_ptr<Part>> all;
  std::vector<nic::PartRun> runs;
  for (std::size_t p = 0; p < parts; ++p) {
    all.push_back(std::make_unique<Part>(nic::part_config(config, part_of, static_cast<std::uint8_t>(p)), bytes));
    runs.push_back({&all.back()->system, &all.back()->context});
  }
  const double cpu = cpu_seconds();
  const double wall = wall_seconds();
  nic::run_parts(runs);
  Took took{.wall = wall_seconds() - wall};
  for (std::size_t p = 0; p < parts; ++p) {
    const double used = all[p]->cpu_used - (p == 0 ? cpu : 0);
    took.busiest = std::max(took.busiest, used);
    took.total += used;
    took.failed += all[p]->failed;
  }
  for (std::size_t p = 1; p < parts; ++p) all.front()->system.absorb(std::move(all[p]->system));
  took.counters = all.front()->system.counters();
  took.end = all.front()->system.now();
  return took;
}

void print(const char* what, const Took& t) {
  std::printf("%-10s %6.2f s of wall, %6.2f s of CPU, busiest thread %6.2f s; %llu events, ends at %.6f ms\n", what,
              t.wall, t.total, t.busiest, static_cast<unsigned long long>(t.counters.events),
              static_cast<double>(t.end.ps) * 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const auto k = static_cast<std::uint32_t>(argument(1, 16));
  const std::uint64_t bytes = argument(2, 500'000);
  nic::SystemConfig config{.profile = profile(), .nodes = k * k * k / 4, .timed = true, .timers = true};
  config.topology = fabric::Topology::shaped;
  config.network.shape = fabric::topology::FatTree{k};
  config.network.options.routing = fabric::Routing::ecmp;
  const std::vector<std::uint8_t> part_of = nic::parts_of(config, static_cast<std::uint32_t>(argument(3, 2)));
  const Took whole = measure(config, bytes, {});
  print("whole", whole);
  const Took parted = measure(config, bytes, part_of);
  print("in parts", parted);
  std::printf("%.2f times as fast by the wall, %.2f by the busiest thread's CPU\n", whole.wall / parted.wall,
              whole.busiest / parted.busiest);
  const bool same = whole.counters == parted.counters && whole.end == parted.end;
  std::printf("%s; %llu work requests failed\n", same ? "same events, packets and end" : "DIFFERENT",
              static_cast<unsigned long long>(whole.failed + parted.failed));
  return same && whole.failed + parted.failed == 0 ? 0 : 1;
}
