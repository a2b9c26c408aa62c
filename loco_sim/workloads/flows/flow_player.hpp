// Plays a list of flows on a simulated cluster. Each flow is a WRITE or a SEND by its source, or a READ by its
// destination.
//
// There is a queue pair for each source and destination, which carries their flows in order, or one for each flow in
// flight, reused once its flow is complete. A flow begins at its time, or when the trigger that starts it has been
// fired, which a thread on the host where the firing flow ended notices. The result depends only on the cluster's
// configuration and the list.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/flows/leap_fault.hpp"
#include "loco_sim/workloads/part.hpp"

namespace loco::workloads::flows {

enum class QueuePairs : std::uint8_t { pair, flow };
enum class Means : std::uint8_t { write, read, send };

struct Play {
  QueuePairs queue_pairs = QueuePairs::pair;
  Means means = Means::write;
  LeapFault leap_fault = LeapFault::none;
};

class Player;

/// Spawns the threads that play the list, whose hosts are nodes of the cluster. The cluster must not have run yet. It
/// must outlive the player, and the player must outlive the cluster's run.
[[nodiscard]] std::shared_ptr<Player> start(const WorkloadHosts& hosts, FlowList list, Play how);

/// The result of each flow in the order of the list, after the run. Flows that failed, or waited for one that failed,
/// have no end.
[[nodiscard]] std::vector<FlowRecord> records(const Player& player);

/// Number of flows that failed or never began because of a failure.
[[nodiscard]] std::uint64_t failed(const Player& player);
/// Packets of flows, and simulated time, that were left out (leaps.hpp).
[[nodiscard]] std::uint64_t packets_left_out(const Player& player);
[[nodiscard]] std::int64_t time_left_out_ps(const Player& player);
/// Nodes and completions of the flows that failed, in the order of time.
[[nodiscard]] std::vector<std::pair<NodeId, Completion>> failures(const Player& player);

}  // namespace loco::workloads::flows
