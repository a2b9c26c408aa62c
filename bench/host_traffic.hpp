// Traffic that benchmarks of whole hosts share: hosts with PCIe, memory and NICs of 100 Gb/s on cables of 1 us, each of
// which sends to the host half of them further on, so that in a fat tree every path goes through the core.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <vector>

#include "nic_model/system.hpp"

namespace loco::bench {

/// Seconds of CPU time of the calling thread.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

inline nic::HardwareProfile host_profile() {
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

/// A thread a host, which keeps messages outstanding until everything is sent.
class Senders : public nic::ThreadRunner {
 public:
  /// Registers memory of all hosts of `system` and connects them. `bytes`: from each host.
  Senders(nic::System& system, std::uint32_t hosts, std::uint64_t bytes) {
    std::vector<nic::MemoryRegion> regions;
    for (nic::NodeId node = 0; node < hosts; ++node) {
      regions.push_back(system.register_memory(node, system.allocate(node, kRegistered), kRegistered));
      system.create_thread(node);
      Sender& s = all_.emplace_back();
      s.cq = system.create_cq(node, 2 * kOutstanding);
      s.left = bytes;
    }
    for (nic::NodeId node = 0; node < hosts; ++node) {
      const nic::NodeId peer = (node + hosts / 2) % hosts;
      Sender& s = all_[node];
      s.qp = system.create_qp(node, s.cq, kOutstanding, node);
      system.connect(s.qp, system.create_qp(peer, all_[peer].cq, 1));
      s.wqe = {.opcode = nic::Opcode::rdma_write,
               .lkey = regions[node].lkey,
               .rkey = regions[peer].rkey,
               .local = regions[node].base,
               .remote = regions[peer].base};
    }
  }

  void run(nic::Cpu& cpu) override {
    Sender& s = all_[cpu.node()];
    std::array<nic::Cqe, kOutstanding> cqes;
    const std::size_t taken = cpu.poll_cq(s.cq, cqes);
    for (std::size_t i = 0; i < taken; ++i) failed_ += cqes[i].status == nic::Status::success ? 0U : 1U;
    s.outstanding -= static_cast<std::uint32_t>(taken);
    for (; s.left > 0 && s.outstanding < kOutstanding; ++s.outstanding) {
      s.wqe.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.left, kMessage));
      s.left -= s.wqe.length;
      cpu.post_send(s.qp, {&s.wqe, 1});
    }
    if (s.outstanding == 0) return cpu.stop();
    cpu.pause({});
  }

  /// Work requests that have failed.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  static constexpr std::uint32_t kMessage = 65'536;
  static constexpr std::uint32_t kOutstanding = 4;  // 256 KiB: more than a path holds
  static constexpr std::uint64_t kRegistered = 1U << 20U;

  struct Sender {
    nic::QpId qp = 0;
    nic::CqId cq = 0;
    nic::Wqe wqe;
    std::uint64_t left = 0;  // bytes
    std::uint32_t outstanding = 0;
  };

  std::vector<Sender> all_{};
  std::uint64_t failed_ = 0;
};

}  // namespace loco::bench
