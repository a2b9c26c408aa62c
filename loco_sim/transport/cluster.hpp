// A simulated cluster: owns the machine, runs node programs on it, reports what went wrong.
//
// Programs are plain blocking code on fibers, against Transport. A run is a function of the configuration (seed
// included) and the programs. Everything happens on the calling OS thread, inside run().
// Errors: what a program throws comes out of run() as a ProgramError with the original nested; programs that wait for
// each other for ever end with Deadlock; too many events with EventLimit. Programs of nodes that stop need not end.
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

/// The machine that a cluster of this configuration has.
[[nodiscard]] nic::SystemConfig machine_of(const ClusterConfig& config);

class SimulatedCluster {
 public:
  using Program = std::function<void(Transport&)>;

  explicit SimulatedCluster(ClusterConfig config);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  /// A program thread of a node, which starts at time 0 (or now, while running). The run ends when all have ended.
  void spawn(NodeId node, std::string name, Program program);
  /// The same program on every node, as thread "main".
  void spawn_everywhere(const Program& program);

  /// Tells `follower`, which outlives the run, of the operations that are posted with a work id. Before run().
  void follow(MessageFollower* follower) { context_.followed.follow(follower); }

  /// Until every program has ended and the machine has come to rest.
  void run();

  [[nodiscard]] const ClusterConfig& config() const { return config_; }
  [[nodiscard]] nic::System& system() { return runtime_.system(); }
  [[nodiscard]] const nic::System& system() const { return runtime_.system(); }
  [[nodiscard]] Transport& node(NodeId node);
  /// Memory of that kind of a node, which all its queue pairs may send from and write to. Throws std::invalid_argument
  /// when there is none.
  Region allocate_in(NodeId node, std::uint64_t size, const nic::RegionKind& kind);
  /// For what is built beside the nodes' transports.
  [[nodiscard]] ClusterContext& context() { return context_; }
  /// Programs that have not ended, those of stopped nodes left out.
  [[nodiscard]] std::size_t unfinished() const { return runtime_.threads().unfinished(); }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return runtime_.threads().ended(); }
  /// For a program: calls `f` on the stack that run() was called on, and then goes on. No simulated time passes. For
  /// what does not fit on a fiber's stack, such as an interpreter. What `f` throws comes out here.
  void call_outside(const std::function<void()>& f) { runtime_.threads().call_outside(f); }
  /// Links that PFC has paused and that wait for each other in a cycle, in words; empty where there is none.
  [[nodiscard]] std::string pause_cycle() const { return runtime_.pause_cycle(); }
  /// What the links did over time; empty when it was not asked for.
  [[nodiscard]] const std::optional<fabric::LinkSeries>& series() const { return runtime_.series(); }
  /// What was recorded until now, taken out: nothing is recorded from then on, and a second trace is empty, as that of
  /// a cluster which does not record. Not for its programs: std::logic_error during run().
  [[nodiscard]] trace::Trace take_trace() { return runtime_.take_trace(); }

 private:
  /// The first failure of each queue pair, polled or not, in words.
  [[nodiscard]] std::string failures_text() const;
  /// What each unfinished thread is doing, and what had failed before.
  [[nodiscard]] std::string waiting_report() const;

  ClusterConfig config_;
  hosts::Runtime runtime_;
  std::vector<std::unique_ptr<VirtualTransport>> nodes_;
  ClusterContext context_;
};

}  // namespace loco
