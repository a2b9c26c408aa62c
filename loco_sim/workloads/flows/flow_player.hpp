// Plays a list of flows on a simulated cluster: each is a WRITE or a SEND by its source, or a READ by its destination.
//
// Queue pairs: one for each source and destination, which carries its flows in their order, or one for each flow under
// way, taken again when its flow is complete. A flow begins at its instant, or when the trigger that starts it has been
// fired; that is seen by a thread of the host where the firing flow ended. Determinism: a function of the cluster's
// configuration and the list.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/part.hpp"

namespace loco::workloads::flows {

enum class QueuePairs : std::uint8_t { pair, flow };
enum class Means : std::uint8_t { write, read, send };

struct Play {
  QueuePairs queue_pairs = QueuePairs::pair;
  Means means = Means::write;
};

class Player;

/// Spawns the threads that play the list, whose hosts are nodes of the cluster. The cluster, which has not run yet, is
/// to outlive the player, and the player the cluster's run.
[[nodiscard]] std::shared_ptr<Player> start(const WorkloadHosts& hosts, FlowList list, Play how);

/// Of each flow, in the order of the list, after the run. Flows that failed, or that waited for one that failed, have
/// not ended.
[[nodiscard]] std::vector<FlowRecord> records(const Player& player);

/// Flows that failed, and those that never began because of them.
[[nodiscard]] std::uint64_t failed(const Player& player);
/// The nodes and completions of those that failed, in the order of time.
[[nodiscard]] std::vector<std::pair<NodeId, Completion>> failures(const Player& player);

}  // namespace loco::workloads::flows
