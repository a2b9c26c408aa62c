// How fast the packet fabric runs, and how it starts: the workloads of docs/fabric.md, "Speed", with hosts that only
// send, receive and acknowledge (no PCIe, no memory). Prints wall time; run on an idle machine.
//   bench_fabric [two_hops | permutation | pfc | adaptive | incast | large]    (all of them without an argument)
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>

#include "tests/fabric/traffic.hpp"

using namespace loco;
using namespace loco::fabric;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of this thread: what other programs on the machine take is not counted.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void report(const char* what, const Config& config, std::vector<Flow> flows, std::uint32_t ack_every = 1) {
  const auto hosts = static_cast<double>(config.nodes);
  const std::size_t before = resident_bytes();
  auto start = std::chrono::steady_clock::now();
  Traffic traffic(config, std::move(flows), ack_every);
  const double build = seconds_since(start);
  const auto built = static_cast<double>(resident_bytes() - before);
  start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  traffic.run();
  const double wall = seconds_since(start);
  const double cpu = cpu_seconds() - cpu_start;
  const auto grown = static_cast<double>(resident_bytes() - before);
  const auto packets = static_cast<double>(traffic.data_packets_delivered());
  const auto events = static_cast<double>(traffic.events());
  std::printf("%-34s start %.1f ms, %.1f KB/host (%.1f at the end); %.0f packets, %.2f events each, %s\n", what,
              build * 1e3, built / hosts / 1e3, grown / hosts / 1e3, packets, events / packets,
              traffic.all_delivered() ? "all delivered" : "SOME LOST");
  std::printf("  simulated %.3f ms; wall %.2f s: %.0f k packets/s; cpu %.2f s: %.0f k packets/s, %.0f ns/event\n",
              static_cast<double>(traffic.end().ps) * 1e-9, wall, packets / wall * 1e-3, cpu, packets / cpu * 1e-3,
              cpu / events * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  Config k8 = fast_network(topology::FatTree{8});
  k8.options.routing = Routing::ecmp;
  if (wanted("two_hops")) {
    // For comparison with bench_ns3: host, switch, host; no ACKs.
    const Config star = fast_network(topology::Star{2});
    report("two hops, 200,000 packets, no ACKs", star, {{.source = 0, .destination = 1, .bytes = 200'000 * 4096}}, 0);
  }
  if (wanted("permutation")) report("permutation 128 x 10 MB, ecmp", k8, permutation(128, 1, 10'000'000));
  Config pfc = k8;
  pfc.options.flow_control = FlowControl::pfc;
  if (wanted("pfc")) report("permutation 128 x 10 MB, ecmp, pfc", pfc, permutation(128, 1, 10'000'000));
  if (wanted("adaptive")) {
    Config adaptive = pfc;
    adaptive.options.routing = Routing::adaptive;
    report("permutation 128 x 10 MB, adaptive", adaptive, permutation(128, 1, 10'000'000));
  }
  if (wanted("incast")) report("incast 127:1 x 2 MB, ecmp, pfc", pfc, incast(128, 127, 2'000'000));
  if (wanted("large")) {
    Config k16 = fast_network(topology::FatTree{16});
    k16.options.routing = Routing::ecmp;
    report("permutation 1024 x 2 MB, ecmp", k16, permutation(1024, 1, 2'000'000));
  }
  return 0;
}
