// Where all threads of a workload meet, in no time, in a run whose parts may be simulated by several threads of the
// simulating machine (sim.threads): they go on at the instant at which the last one has come, behind everything else of
// that instant, so that nothing depends on where the parts are.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "nic_model/parts.hpp"

namespace loco::workloads {

class Gathering {
 public:
  /// `group`: which of the workloads of a run meets. `threads`: that meet and are simulated here. `release(at)`: called
  /// each time that all have come; what it changes must be seen by none of them before that instant. Outlives the run.
  Gathering(SimulatedCluster& cluster, std::uint32_t group, std::uint32_t threads,
            std::function<void(sim::SimTime)> release)
      : cluster_(cluster), group_(group), threads_(threads), release_(std::move(release)) {
    if (threads_ == 0 || meeting() == nullptr) return;
    meeting()->gathers(part(), group_, [this](sim::SimTime at) { let_go(at); });
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// The calling thread is there, and not ahead of the clock: it waits until `flag`, its own, has the value that is
  /// returned.
  std::uint64_t come(Transport& node, Flag flag) {
    waiting_.push_back({node.my_node(), flag});
    const std::uint64_t value = times_ + 1;
    if (waiting_.size() < threads_) return value;
    const sim::SimTime now = cluster_.system().now();
    if (meeting() == nullptr)
      let_go(now);
    else
      meeting()->gathered(part(), group_, now);
    return value;
  }

 private:
  struct Waiting {
    NodeId node = 0;
    Flag flag = 0;
  };

  [[nodiscard]] nic::PartMeeting* meeting() const { return cluster_.config().meeting; }
  [[nodiscard]] std::uint8_t part() const { return cluster_.config().network.share.part; }

  void let_go(sim::SimTime at) {
    ++times_;
    release_(at);
    for (const Waiting& w : waiting_) cluster_.system().set_flag_at(w.node, w.flag, times_, at);
    waiting_.clear();
  }

  SimulatedCluster& cluster_;
  std::uint32_t group_;
  std::uint32_t threads_;
  std::function<void(sim::SimTime)> release_;
  std::vector<Waiting> waiting_{};
  std::uint64_t times_ = 0;
};

}  // namespace loco::workloads
