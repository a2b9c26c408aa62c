// The workloads of a scenario: its only one, or those of its list.
#pragma once

#include <vector>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco {

/// They refer to the scenario.
[[nodiscard]] std::vector<workloads::Job> jobs_of(const scenario::Scenario& scenario);

/// Runs a scenario's workloads on its cluster, to their end. Returns what each has measured.
[[nodiscard]] std::vector<workloads::Results> run_workloads(const scenario::Scenario& scenario,
                                                            SimulatedCluster& cluster);

}  // namespace loco
