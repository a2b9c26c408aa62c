// A simulated cluster: owns the machine, runs node programs on it, reports failures.
//
// Programs are plain blocking code on fibers, written against Transport. A run is a function of the configuration (seed
// included) and the programs. Everything happens on the calling OS thread, inside run().
// Errors thrown by run(): ProgramError for an exception of a program, which it nests; Deadlock if programs wait for
// each other for ever; EventLimit after too many events. Programs of stopped nodes need not end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/report.hpp"
#include "hosts/runtime.hpp"
#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/cluster_config.hpp"
#include "loco_sim/transport/cluster_context.hpp"
#include "nic_model/system.hpp"

namespace loco {

/// The machine of a cluster with this configuration.
[[nodiscard]] nic::SystemConfig machine_of(const ClusterConfig& config);

class SimulatedCluster {
 public:
  using Program = std::function<void(Transport&)>;

  explicit SimulatedCluster(ClusterConfig config);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  /// Starts a program thread of a node at time 0, or now while running. The run ends when all of them have ended.
  void spawn(NodeId node, std::string name, Program program);
  /// Starts the same program on every node, as thread "main".
  void spawn_everywhere(const Program& program);

  /// Call this before run(): reports operations with a work id to `follower`, which must outlive the run.
  void follow(MessageFollower* follower) { context_.followed.follow(follower); }

  /// Runs until every program has ended and no event is left.
  void run();

  [[nodiscard]] const ClusterConfig& config() const { return config_; }
  [[nodiscard]] nic::System& system() { return runtime_.system(); }
  [[nodiscard]] const nic::System& system() const { return runtime_.system(); }
  [[nodiscard]] Transport& node(NodeId node);
  /// Memory of that kind of a node, which all its queue pairs may send from and write to. Throws std::invalid_argument
  /// when there is none.
  Region allocate_in(NodeId node, std::uint64_t size, const nic::RegionKind& kind);
  /// For code that is built beside the nodes' transports.
  [[nodiscard]] ClusterContext& context() { return context_; }
  /// Number of programs that have not ended, without those of stopped nodes.
  [[nodiscard]] std::size_t unfinished() const { return runtime_.threads().unfinished(); }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return runtime_.threads().ended(); }
  /// For a program: calls `f` on the stack that run() was called on, for code that needs more stack than a fiber has,
  /// such as an interpreter. No simulated time passes. Exceptions of `f` come out here.
  void call_outside(const std::function<void()>& f) { runtime_.threads().call_outside(f); }
  /// Describes links that PFC has paused and that wait for each other in a cycle; empty if there is no cycle.
  [[nodiscard]] std::string pause_cycle() const { return runtime_.pause_cycle(); }
  /// Link activity over time; empty unless requested.
  [[nodiscard]] const std::optional<fabric::LinkSeries>& series() const { return runtime_.series(); }
  /// Takes out what has been recorded so far and ends the recording: a second trace is empty, as is that of a cluster
  /// that does not record. Throws std::logic_error during run().
  [[nodiscard]] trace::Trace take_trace() { return runtime_.take_trace(); }

 private:
  /// Describes the first failure of each queue pair, polled or not.
  [[nodiscard]] std::string failures_text() const;
  /// Describes what each unfinished thread does, and the failures before.
  [[nodiscard]] std::string waiting_report() const;

  ClusterConfig config_;
  hosts::Runtime runtime_;
  std::vector<std::unique_ptr<VirtualTransport>> nodes_;
  ClusterContext context_;
};

}  // namespace loco
