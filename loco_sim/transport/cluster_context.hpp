// What a node's transport, and what is built beside it (loco_sim/baselines/), sees of the cluster that it is part of.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hosts/runtime.hpp"
#include "loco_sim/transport/cluster_config.hpp"
#include "loco_sim/transport/held_locks.hpp"
#include "loco_sim/transport/message_follower.hpp"
#include "nic_model/system.hpp"

namespace loco {

class VirtualTransport;

struct ClusterContext {
  const ClusterConfig& config;
  nic::System& system;
  hosts::Fibers& threads;
  const std::vector<std::unique_ptr<VirtualTransport>>& nodes;
  hosts::Runtime& runtime;
  const std::unique_ptr<hosts::Recorder>& recorder;  ///< null: nothing is recorded
  std::vector<Service> services;                     ///< by OperationTag::service
  std::map<nic::QpId, nic::Cqe> failures{};          ///< the first failed completion of each queue pair that was polled
  HeldLocks locks{};
  std::optional<std::int64_t> failed_ps{};  ///< when the latest connection was found to have failed
  FollowedMessages followed{};

  /// The time of the calling thread.
  [[nodiscard]] std::int64_t now_ps() { return threads.current().now().ps; }
  /// The number of a service, which is new or has been asked for before.
  [[nodiscard]] std::uint8_t service(const Service& service);
  /// The completion of an operation that failed, over a connection of that number, has been polled.
  void note_failure(const nic::Cqe& failed, std::uint32_t connection) {
    const bool first = failures.try_emplace(failed.qp, failed).second;
    if (first) hear_of_failure();
    if (first && recorder)
      recorder->failed(system.qp_thread(failed.qp), {system.qp_peer_node(failed.qp), connection}, system.seq());
  }
  /// Connections fail from now on: those who ask their peers begin to.
  void hear_of_failure();
};

}  // namespace loco
