// A machine in parts against the whole of it (docs/parallel-runs.md): a permutation of the hosts of a fat tree with 1
// us cables, hosts with PCIe and memory, simulated by one thread and by several.
//   bench_parts [K [BYTES [PARTS]]]      k = 16 (1,024 hosts), 500,000 bytes from each host, 2 parts without arguments
// Prints times of the wall and of the processor: which of them can be had depends on how many processors are free. What
// does not depend on that: the processor time of the busiest part against that of the whole.
// Exit code 1 when the parts do not do what the whole does.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/host_traffic.hpp"
#include "nic_model/parts.hpp"

using namespace loco;

namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A part, which says what its thread took.
struct Part final : nic::ThreadRunner {
  Part(const nic::SystemConfig& config, std::uint64_t bytes) : system(config), senders(system, config.nodes, bytes) {}

  void run(nic::Cpu& cpu) override {
    cpu_used = bench::cpu_seconds();  // of its thread
    senders.run(cpu);
  }

  nic::System system;
  bench::Senders senders;
  nic::Context context{*this};
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
  const double cpu = bench::cpu_seconds();
  const double wall = wall_seconds();
  nic::run_parts(runs);
  Took took{.wall = wall_seconds() - wall};
  for (std::size_t p = 0; p < parts; ++p) {
    const double used = all[p]->cpu_used - (p == 0 ? cpu : 0);
    took.busiest = std::max(took.busiest, used);
    took.total += used;
    took.failed += all[p]->senders.failed();
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
  nic::SystemConfig config{.profile = bench::host_profile(), .nodes = k * k * k / 4, .timed = true, .timers = true};
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
