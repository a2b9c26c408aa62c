// 128 hosts with their PCIe, memory and NICs on a k = 8 fat tree: how long they take to start and what they hold, and
// data packets a second of CPU time while each sends 10 MB to another (the permutation of bench_fabric, where hosts
// have no PCIe and no memory).
//   bench_nic_hosts [BYTES]      bytes from each host, 10,000,000 without an argument
// Exit code 1 when starting takes more than 20 ms of CPU time or a host more than 100 KB beyond its registered memory.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <vector>

#include "nic_model/system.hpp"

using namespace loco;

namespace {

constexpr std::uint32_t kHosts = 128;
constexpr std::uint32_t kMessage = 65'536;
constexpr std::uint32_t kOutstanding = 4;  // 256 KiB: more than a path holds
constexpr std::uint64_t kRegistered = 1U << 20U;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::size_t allocated() {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

nic::HardwareProfile profile() {
  nic::HardwareProfile p;
  p.link_ideal = false;
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

/// One thread a host: keeps messages outstanding until everything is sent.
struct Senders : nic::ThreadRunner {
  std::vector<Sender> all{};
  std::uint64_t failed = 0;

  void run(nic::Cpu& cpu) override {
    Sender& s = all[cpu.node()];
    std::array<nic::Cqe, kOutstanding> cqes;
    const std::size_t taken = cpu.poll_cq(s.cq, cqes);
    for (std::size_t i = 0; i < taken; ++i) {
      if (cqes[i].status != nic::Status::success) ++failed;
    }
    s.outstanding -= static_cast<std::uint32_t>(taken);
    for (; s.left > 0 && s.outstanding < kOutstanding; ++s.outstanding) {
      s.wqe.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.left, kMessage));
      s.left -= s.wqe.length;
      cpu.post_send(s.qp, {&s.wqe, 1});
    }
    if (s.outstanding == 0) return cpu.stop();
    cpu.pause({});
  }
};

/// Everybody to the host half of them further on: every path goes through the core.
Senders connect(nic::System& system, std::uint64_t bytes) {
  Senders senders;
  std::vector<nic::MemoryRegion> regions;
  for (nic::NodeId node = 0; node < kHosts; ++node) {
    regions.push_back(system.register_memory(node, system.allocate(node, kRegistered), kRegistered));
    system.create_thread(node);
    Sender& s = senders.all.emplace_back();
    s.cq = system.create_cq(node, 2 * kOutstanding);
    s.left = bytes;
  }
  for (nic::NodeId node = 0; node < kHosts; ++node) {
    const nic::NodeId peer = (node + kHosts / 2) % kHosts;
    Sender& s = senders.all[node];
    s.qp = system.create_qp(node, s.cq, kOutstanding, node);
    system.connect(s.qp, system.create_qp(peer, senders.all[peer].cq, 1));
    s.wqe = {.opcode = nic::Opcode::rdma_write,
             .lkey = regions[node].lkey,
             .rkey = regions[peer].rkey,
             .local = regions[node].base,
             .remote = regions[peer].base};
  }
  return senders;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  nic::SystemConfig config{.profile = profile(), .nodes = kHosts, .timed = true};
  config.topology = fabric::Topology::shaped;
  config.network.shape = fabric::topology::FatTree{8};
  config.network.options.routing = fabric::Routing::ecmp;
  const std::size_t before = allocated();
  const double start = cpu_seconds();
  nic::System system(config);
  Senders senders = connect(system, bytes);
  const double started = (cpu_seconds() - start) * 1e3;
  const double held = static_cast<double>(allocated() - before) / kHosts / 1e3;
  std::printf("start of %u hosts: %.2f ms, %.1f KB a host (registered memory is allocated when written)\n", kHosts,
              started, held);
  const double run = cpu_seconds();
  nic::Context context{senders};
  while (system.step(context)) {
  }
  const double cpu = cpu_seconds() - run;
  const double packets = static_cast<double>((bytes + 4095) / 4096) * kHosts;
  const auto events = static_cast<double>(system.counters().events);
  const double at_end = static_cast<double>(allocated() - before) / kHosts / 1e3;
  std::printf("permutation, %.1f MB each: simulated %.3f ms; %.0f data packets, cpu %.2f s: %.0f k packets/s\n",
              static_cast<double>(bytes) * 1e-6, static_cast<double>(system.now().ps) * 1e-9, packets, cpu,
              packets / cpu * 1e-3);
  std::printf("  %.1f events a packet, %.0f ns an event; %.1f KB a host at the end\n", events / packets,
              cpu / events * 1e9, at_end);
  if (senders.failed != 0)
    std::printf("  %llu WORK REQUESTS FAILED\n", static_cast<unsigned long long>(senders.failed));
  return started <= 20 && held <= 100 && senders.failed == 0 ? 0 : 1;
}
