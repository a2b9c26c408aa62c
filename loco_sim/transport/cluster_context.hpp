// The cluster as a node's transport, and code built beside it (loco_sim/baselines/), sees it.
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
  const std::unique_ptr<hosts::Recorder>& recorder;  ///< null: not recording
  std::vector<Service> services;                     ///< by OperationTag::service
  std::map<nic::QpId, nic::Cqe> failures{};          ///< by queue pair: its first failed completion that was polled
  HeldLocks locks{};
  std::optional<std::int64_t> failed_ps{};  ///< when a failed connection was last detected
  FollowedMessages followed{};

  /// The calling thread's time.
  [[nodiscard]] std::int64_t now_ps() { return threads.current().now().ps; }
  /// Index of a service, which is added if it is new.
  [[nodiscard]] std::uint8_t service(const Service& service);
  /// A failed operation's completion has been polled; `connection` is the number of its connection.
  void note_failure(const nic::Cqe& failed, std::uint32_t connection) {
    const bool first = failures.try_emplace(failed.qp, failed).second;
    if (first) hear_of_failure();
    if (first && recorder)
      recorder->failed(system.qp_thread(failed.qp), {system.qp_peer_node(failed.qp), connection}, system.seq());
  }
  /// A connection has failed: keep-alive threads start to probe their peers.
  void hear_of_failure();
};

}  // namespace loco
