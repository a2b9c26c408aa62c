// A run on several threads of the simulating machine (sim.threads). Each simulates a part of the network and its hosts,
// with its own cluster that is set up like that of the whole (nic_model/parts.hpp, docs/parallel-runs.md).
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "loco_sim/run/capture.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco {

/// Why a scenario runs on one thread whatever it asks for; empty if it can run on more. Does not depend on the number
/// of threads.
[[nodiscard]] std::string_view one_thread_because(const scenario::Scenario& scenario, const ClusterConfig& config);

struct ParallelRun {
  std::vector<std::unique_ptr<SimulatedCluster>> clusters;  ///< the first one's machine has what all parts simulated
  std::vector<workloads::Results> measured;                 ///< by workload
  sim::SimTime ended{};                                     ///< the end of the last program
};

/// Runs a scenario of which one_thread_because() says nothing. Nothing where something went wrong that only a run on
/// one thread can tell. `capture`, if any, sees the packets of all parts. Throws what the budget throws.
[[nodiscard]] std::optional<ParallelRun> run_in_parallel(const scenario::Scenario& scenario,
                                                         const ClusterConfig& config, Capture* capture = nullptr);

}  // namespace loco
