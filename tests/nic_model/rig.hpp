// Two hosts with one connected queue pair, and threads written as functions: for tests of the NIC model.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "hosts/steps.hpp"
#include "nic_model/system.hpp"

namespace loco::test {

using namespace loco::sim::literals;

/// Threads as functions, one call a step.
using Scripts = hosts::Steps;

/// Keeps every typed event.
class Recorder : public nic::Observer {
 public:
  std::vector<nic::Subevent> subevents;
  std::vector<nic::SubeventFinish> finishes;
  struct Completed {
    nic::Cqe cqe;
    sim::SimTime at;
  };
  std::vector<Completed> cqes;
  std::vector<fabric::Packet> sent;
  void on_subevent(const nic::Subevent& s) override { subevents.push_back(s); }
  void on_subevent_finish(const nic::SubeventFinish& f) override { finishes.push_back(f); }
  void on_cqe(nic::NodeId, nic::CqId, const nic::Cqe& cqe, sim::SimTime at) override { cqes.push_back({cqe, at}); }
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime) override {
    if (step == nic::PacketStep::sent) sent.push_back(packet);
  }
  /// When the first subevent of this kind finished; max() if none has.
  [[nodiscard]] sim::SimTime finished(nic::Stamp stamp) const;
};

/// Node 0 posts to node 1. Each node has `size` bytes of registered memory.
struct Rig {
  explicit Rig(const nic::HardwareProfile& profile, fabric::Topology topology = fabric::Topology::back_to_back,
               std::uint64_t size = 1 << 16, std::uint8_t remote_access = nic::kAllAccess);

  nic::System system;
  nic::MemoryRegion local, remote;
  nic::CqId cq = 0;
  nic::QpId qp = 0, passive = 0;
  Scripts scripts;
  Recorder recorder;

  [[nodiscard]] nic::Wqe write(std::uint64_t from, std::uint64_t to, std::uint32_t length = 8) const;
  [[nodiscard]] nic::Wqe read(std::uint64_t into, std::uint64_t from, std::uint32_t length = 8) const;
  [[nodiscard]] nic::Wqe fetch_add(std::uint64_t into, std::uint64_t at, std::uint64_t add) const;
  [[nodiscard]] nic::Wqe compare_swap(std::uint64_t into, std::uint64_t at, std::uint64_t expected,
                                      std::uint64_t desired) const;
  /// From here on posts use a queue pair that is connected within node 0, to its own region.
  void loop_back();
  /// The same work request, but to the first bytes of node 0's region and some further.
  [[nodiscard]] nic::Wqe to_self(nic::Wqe wqe, std::uint64_t offset) const;
  /// A thread of node 0 posts these at time zero, with one doorbell; nothing runs yet.
  void post(std::vector<nic::Wqe> wqes);
  /// A thread of node 0 posts these at time zero, with one doorbell each unless `linked`; then everything runs.
  /// Returns all CQEs in order.
  std::vector<nic::Cqe> post_and_run(const std::vector<nic::Wqe>& wqes, bool linked = false);
  /// Runs until nothing is pending.
  void run();
  /// Any pending event may be next; `look` is called after each.
  void run_random(std::uint64_t seed, nic::Observer* observer = nullptr, const std::function<void()>& look = {});

  void fill(nic::NodeId node, std::uint64_t offset, const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> bytes(nic::NodeId node, std::uint64_t offset, std::size_t size) const;
};

/// Random bytes, and the statuses of CQEs.
[[nodiscard]] std::vector<std::uint8_t> pattern(std::size_t size, std::uint32_t seed);
[[nodiscard]] std::vector<nic::Status> statuses(const std::vector<nic::Cqe>& cqes);

/// The same work request, but to the first bytes of another region.
[[nodiscard]] nic::Wqe towards(const nic::MemoryRegion& region, nic::Wqe wqe);

/// A profile with mutually distinct costs, where all that can be switched on is off.
[[nodiscard]] nic::HardwareProfile plain();
/// A profile of hardware/, from its YAML file.
[[nodiscard]] nic::HardwareProfile profile_file(const std::string& name);
/// One of a real NIC: cx5-roce-25g.
[[nodiscard]] nic::HardwareProfile real();

}  // namespace loco::test
