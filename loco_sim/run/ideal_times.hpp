// Ideal times of flows, which slowdowns are relative to (docs/flows.md).
//
// `alone`: the flow by itself in the same network, run once for each size and length of path. If there are more than
// kAloneMost of these, evenly spaced sizes are run and others interpolated linearly. `base_rtt`: a round trip of the
// network plus the transmission time at the sender's port, as in the HPCC paper and others.
#pragma once

#include <span>

#include "loco_sim/transport/cluster_config.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco {

inline constexpr std::size_t kAloneMost = 128;

/// Fills `ideal_ps` of all flows that began in a workload `flows`. `config` is that of their run.
void fill_ideal_times(const workloads::Params& params, const nic::HardwareProfile& hardware, ClusterConfig config,
                      std::span<workloads::flows::FlowRecord> flows);

}  // namespace loco
