// 128 hosts with their PCIe, memory and NICs on a k = 8 fat tree: how long they take to start and what they hold, and
// data packets a second of CPU time while each sends 10 MB to another (the permutation of bench_fabric, where hosts
// have no PCIe and no memory).
//   bench_nic_hosts [BYTES]      bytes from each host, 10,000,000 without an argument
// Exit code 1 when starting takes more than 20 ms of CPU time or a host more than 100 KB beyond its registered memory.
#include <cstdio>
#include <cstdlib>
#include <malloc.h>

#include "bench/host_traffic.hpp"
#include "nic_model/system.hpp"

using namespace loco;

namespace {

constexpr std::uint32_t kHosts = 128;

std::size_t allocated() {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  nic::SystemConfig config{.profile = bench::host_profile(), .nodes = kHosts, .timed = true};
  config.topology = fabric::Topology::shaped;
  config.network.shape = fabric::topology::FatTree{8};
  config.network.options.routing = fabric::Routing::ecmp;
  const std::size_t before = allocated();
  const double start = bench::cpu_seconds();
  nic::System system(config);
  bench::Senders senders(system, kHosts, bytes);
  const double started = (bench::cpu_seconds() - start) * 1e3;
  const double held = static_cast<double>(allocated() - before) / kHosts / 1e3;
  std::printf("start of %u hosts: %.2f ms, %.1f KB a host (registered memory is allocated when written)\n", kHosts,
              started, held);
  const double run = bench::cpu_seconds();
  nic::Context context{senders};
  while (system.step(context)) {
  }
  const double cpu = bench::cpu_seconds() - run;
  const double packets = static_cast<double>((bytes + 4095) / 4096) * kHosts;
  const auto events = static_cast<double>(system.counters().events);
  const double at_end = static_cast<double>(allocated() - before) / kHosts / 1e3;
  std::printf("permutation, %.1f MB each: simulated %.3f ms; %.0f data packets, cpu %.2f s: %.0f k packets/s\n",
              static_cast<double>(bytes) * 1e-6, static_cast<double>(system.now().ps) * 1e-9, packets, cpu,
              packets / cpu * 1e-3);
  std::printf("  %.1f events a packet, %.0f ns an event; %.1f KB a host at the end\n", events / packets,
              cpu / events * 1e9, at_end);
  if (senders.failed() != 0)
    std::printf("  %llu WORK REQUESTS FAILED\n", static_cast<unsigned long long>(senders.failed()));
  return started <= 20 && held <= 100 && senders.failed() == 0 ? 0 : 1;
}
