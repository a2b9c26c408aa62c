// What flows take at best: what their slowdowns are over (docs/flows.md).
//
// `alone`: the flow by itself in the same network, which is run for each size and length of path; where there are more
// than kAloneMost of these, for sizes at equal distances in their order, and between two of them linear. `base_rtt`:
// a round trip of the network and the wire's time at the sender's port, as HPCC's and other papers have it.
#pragma once

#include <span>

#include "loco_sim/transport/cluster_config.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco {

inline constexpr std::size_t kAloneMost = 128;

/// Fills `ideal_ps` of all flows of a workload `flows` that began. `config`: of the run that they come from.
void fill_ideal_times(const workloads::Params& params, const nic::HardwareProfile& hardware, ClusterConfig config,
                      std::span<workloads::flows::FlowRecord> flows);

}  // namespace loco
