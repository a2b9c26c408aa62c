// Hosts around a switch that write to one of them: for tests of congestion control.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fabric/packet_network.hpp"
#include "fabric/tap.hpp"
#include "rig.hpp"

namespace loco::test {

struct CrowdOptions {
  std::uint32_t senders = 2;
  std::uint64_t mtu = 4'096;
  sim::Duration delay{};  ///< of a cable
  sim::BitsPerSecond rate{100'000'000'000};
  bool paths = false;          ///< two spines in place of a switch
  bool at_once = false;        ///< else they begin one after the other within 10 us
  std::uint32_t requests = 0;  ///< of each sender; 0: without end
  std::uint32_t length = 65'536;
  std::uint64_t overhead = 0;  ///< of a packet; 0: as the profile has it
  fabric::LinkTap* tap = nullptr;
  fabric::Options network{};
  nic::TransportOptions transport{};
};

/// Hosts around a switch that all write to host 0 for ever. PCIe and NICs limit nothing.
class Crowd {
 public:
  explicit Crowd(const CrowdOptions& options)
      : system_({.profile = profile(options),
                 .topology = options.paths ? fabric::Topology::shaped : fabric::Topology::star,
                 .network = network(options),
                 .nodes = options.senders + 1,
                 .timed = true}),
        options_(options) {
    constexpr std::uint64_t kSize = 1 << 20;
    for (nic::NodeId node = 0; node <= options.senders; ++node) {
      regions_.push_back(system_.register_memory(node, system_.allocate(node, kSize), kSize));
      cqs_.push_back(system_.create_cq(node, 4'096));
    }
    for (nic::NodeId node = 1; node <= options.senders; ++node) {
      qps_.push_back(system_.create_qp(node, cqs_[node], 64));
      left_.push_back(options.requests);
      system_.connect(qps_.back(), system_.create_qp(0, cqs_[0], 1));
      const std::int64_t apart = options.at_once ? 0 : 10'000'000 / options.senders;
      system_.create_thread(node, sim::SimTime{std::int64_t{node - 1} * apart});
      scripts_.steps.emplace_back([this, node](nic::Cpu& cpu) { keep_busy(cpu, node); });
    }
  }

  void run_until(sim::SimTime end) {
    nic::Context context{scripts_, nullptr};
    while (!system_.idle() && system_.next_time() <= end) system_.step(context);
  }

  struct Figures {
    double utilisation = 0, mean_queue = 0, median_queue = 0;
    std::uint64_t longest = 0, lost = 0;
    double marks = 0;  ///< a packet
  };
  /// Of the port to host 0, looked at every 500 ns.
  Figures measure(sim::SimTime from, sim::SimTime end) {
    run_until(from);
    const fabric::topology::LinkId port = to_host();
    const fabric::LinkCounters before = net().counters(port);
    Figures f;
    std::vector<double> queues;
    for (sim::SimTime at = from; at <= end; at += 500_ns) {
      run_until(at);
      queues.push_back(static_cast<double>(net().queued(port, std::max(at, system_.now()))));
    }
    f.mean_queue = std::accumulate(queues.begin(), queues.end(), 0.0) / static_cast<double>(queues.size());
    std::sort(queues.begin(), queues.end());
    f.median_queue = queues[queues.size() / 2];
    const double seconds = static_cast<double>((end - from).ps) / 1e12;
    f.utilisation = static_cast<double>(net().counters(port).bytes - before.bytes) * 8 / seconds /
                    static_cast<double>(options_.rate.value);
    const fabric::LinkCounters& now = net().counters(port);
    f.marks = static_cast<double>(now.marks - before.marks) / static_cast<double>(now.packets - before.packets);
    f.longest = net().counters(port).queue_max;
    f.lost = system_.counters().packets_lost;
    return f;
  }
  [[nodiscard]] nic::System& system() { return system_; }
  [[nodiscard]] bool idle() const { return system_.idle(); }

 private:
  static nic::HardwareProfile profile(const CrowdOptions& options) {
    nic::HardwareProfile p = profile_file("cx5-roce-100g");
    p.link_rate = options.rate;
    p.link_mtu = sim::Bytes{options.mtu};
    p.link_delay = options.delay;
    p.pcie_generation = 0;
    p.pcie_rate = sim::BitsPerSecond{1'000'000'000'000};
    p.nic_placement = options.tap != nullptr ? nic::Placement::out_of_order : nic::Placement::in_order;
    p.transport = options.transport;
    p.nic_slow_restart = nic::SlowRestart::off;
    p.nic_lossy_timeout = sim::Duration{0};
    if (options.overhead != 0) p.link_overhead = sim::Bytes{options.overhead};
    p.nic_qp_gap = p.nic_packet_gap = p.nic_jitter = sim::Duration{0};
    p.nic_qp_gap_rate = p.nic_buffer_rate = sim::BitsPerSecond{0};
    p.pcie_tags = p.pcie_nonposted_credits = 0;
    return p;
  }
  static fabric::Config network(const CrowdOptions& options) {
    fabric::Config c;
    c.options = options.network;
    c.tap = options.tap;
    if (options.paths) {  // host 0's leaf has the others behind two spines
      c.shape = fabric::topology::LeafSpine{.leaves = options.senders + 1, .spines = 2, .hosts_per_leaf = 1};
    }
    return c;
  }
  [[nodiscard]] const fabric::PacketNetwork& net() const { return *system_.network().packet_network(); }
  [[nodiscard]] fabric::topology::LinkId to_host() const {
    return fabric::topology::opposite(net().graph().ports(0).front());
  }
  void keep_busy(nic::Cpu& cpu, nic::NodeId node) {
    std::array<nic::Cqe, 64> done;
    while (cpu.poll_cq(cqs_[node], done) != 0) {
    }
    const nic::Wqe wqe{.opcode = nic::Opcode::rdma_write,
                       .length = options_.length,
                       .lkey = regions_[node].lkey,
                       .rkey = regions_[0].rkey,
                       .local = regions_[node].base,
                       .remote = regions_[0].base};
    const nic::QpId qp = qps_[node - 1];
    std::uint32_t& left = left_[node - 1];
    while ((options_.requests == 0 || left > 0) && system_.send_queue_room(qp) > 56 && !cpu.store_buffer_full()) {
      if (cpu.post_send(qp, {&wqe, 1}) != nic::PostResult::ok) break;
      if (left > 0) --left;
    }
    if (options_.requests != 0 && left == 0 && system_.qp_settled(qp)) return cpu.stop();
    cpu.resume_after(1_us);
  }

  nic::System system_;
  CrowdOptions options_;
  std::vector<std::uint32_t> left_;
  std::vector<nic::MemoryRegion> regions_;
  std::vector<nic::CqId> cqs_;
  std::vector<nic::QpId> qps_;
  Scripts scripts_;
};

}  // namespace loco::test
