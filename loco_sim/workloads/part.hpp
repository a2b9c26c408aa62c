// The hosts of one workload: all of a cluster's nodes, or some of them if several workloads share a run.
//
// A workload that may share a run numbers its hosts from 0 (ranks) and uses the cluster through this class. What it
// posts is marked as its own, so that completions and messages reach it whichever of a node's threads polls them. A
// workload that has all nodes from time 0 to itself needs no marks, and its run is the same as without this class.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "nic_model/delivery/policy.hpp"

namespace loco::workloads {

/// One of several workloads: where it runs and from when on.
struct Part {
  std::string name{};           ///< empty: the only workload
  std::vector<NodeId> nodes{};  ///< by rank; empty: all
  std::int64_t start_ps = 0;
  Service service{};         ///< of its queue pairs
  std::uint32_t number = 0;  ///< among `parts`
  std::uint32_t parts = 1;
};

/// Limit on the workloads of one run, whose numbers take the upper bits of a token.
inline constexpr std::uint32_t kPartsMost = 64;

/// Distributes the completions of nodes that several workloads share. Must outlive the run.
class MeetingPoint final : public MessageFollower {
 public:
  MeetingPoint(std::uint32_t nodes, std::uint32_t parts) : boxes_(nodes), followers_(parts) {
    for (auto& of_node : boxes_) of_node.resize(parts);
  }

  /// Polls completions of a node and returns those of part `number`. The others are kept for their own threads, which
  /// are woken.
  std::size_t poll(Transport& node, std::uint32_t number, std::span<Completion> out);
  void follow(std::uint32_t number, MessageFollower* follower) { followers_[number] = follower; }

  void on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) override;
  void on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) override;

 private:
  [[nodiscard]] MessageFollower* follower_of(std::uint64_t work_id) const {
    return followers_[(work_id - 1) % followers_.size()];
  }
  [[nodiscard]] std::uint64_t own_id(std::uint64_t work_id) const { return (work_id - 1) / followers_.size() + 1; }

  std::vector<std::vector<std::deque<Completion>>> boxes_;  // by node and part
  std::vector<MessageFollower*> followers_;                 // by part, or null
};

class WorkloadHosts {
 public:
  /// The hosts of a cluster's only workload.
  WorkloadHosts(SimulatedCluster& cluster)  // NOLINT(google-explicit-constructor)
      : WorkloadHosts(cluster, {.service = cluster.config().service}, nullptr) {}
  /// `meeting` is null for the only workload. To be made when the workloads before it have spawned their threads.
  WorkloadHosts(SimulatedCluster& cluster, Part part, MeetingPoint* meeting);

  [[nodiscard]] std::uint32_t count() const {
    return part_.nodes.empty() ? cluster_.config().nodes : static_cast<std::uint32_t>(part_.nodes.size());
  }
  [[nodiscard]] NodeId node(std::uint32_t rank) const { return part_.nodes.empty() ? rank : part_.nodes[rank]; }
  [[nodiscard]] Transport& transport(std::uint32_t rank) { return cluster_.node(node(rank)); }
  [[nodiscard]] SimulatedCluster& cluster() { return cluster_; }
  [[nodiscard]] const ClusterConfig& config() const { return cluster_.config(); }
  [[nodiscard]] const Part& part() const { return part_; }
  /// How its queue pairs deliver.
  [[nodiscard]] nic::DeliveryPolicy delivery() const;

  /// Spawns a thread on a rank's node that starts when the workload does.
  void spawn(std::uint32_t rank, const std::string& name, SimulatedCluster::Program program);
  /// Spawns a thread on a node that starts at once.
  void spawn_now(NodeId node, const std::string& name, SimulatedCluster::Program program) {
    cluster_.spawn(node, called(name), std::move(program));
  }
  /// Where the machine is in parts, all of them have the same queue pairs, before anything happens: of a rank's thread
  /// of this number among those of the workload, towards another rank. The thread has been spawned. Elsewhere they are
  /// made at their first use.
  void connect_ahead(std::uint32_t rank, std::uint32_t thread, std::uint32_t to);
  /// The index of the workload's first thread on a node.
  [[nodiscard]] std::uint32_t first_thread(NodeId node) const { return first_threads_[node]; }
  /// The tag for what its threads post. Tokens must be below 2^56.
  [[nodiscard]] OperationTag tag(OperationTag own) const;
  /// The service of queue pairs with a traffic class of their own, as OperationTag::service.
  [[nodiscard]] std::uint8_t service_of(std::uint8_t traffic_class) {
    Service service = part_.service;
    service.traffic_class = traffic_class;
    return cluster_.context().service(service);
  }
  /// Lets its queue pairs receive SENDs. Returns the number of the inbox on each of its nodes.
  std::uint8_t take_sends() {
    part_.service.inbox = static_cast<std::uint8_t>(part_.number + 1);
    service_ = cluster_.context().service(part_.service);
    return part_.service.inbox;
  }
  /// Polls completions of what any of the node's threads of this workload has posted with such tags.
  std::size_t poll(Transport& node, std::span<Completion> out) {
    return meeting_ == nullptr ? node.poll(out) : meeting_->poll(node, part_.number, out);
  }
  void follow(MessageFollower* follower);

 private:
  [[nodiscard]] std::string called(const std::string& thread) const {
    return part_.name.empty() ? thread : part_.name + ": " + thread;
  }

  SimulatedCluster& cluster_;
  Part part_;
  MeetingPoint* meeting_;
  std::uint8_t service_;
  std::vector<std::uint32_t> first_threads_;  // by node
};

}  // namespace loco::workloads
