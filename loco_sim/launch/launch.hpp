// Runs a LOCO program on a real network that is given by name, as on a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

struct NetworkOptions {
  std::string transport = "verbs";    ///< or "libfabric"
  std::string hosts = {};             ///< "node0,node1:18601", the same for all processes (process/host_list.hpp)
  std::optional<NodeId> rank = {};    ///< the node of this process; nothing: $LOCO_RANK
  std::string device = {};            ///< verbs: its name; empty: the first one with an active port
  int gid_index = -1;                 ///< verbs: -1: a RoCE v2 GID with an IPv4 address
  std::string provider = {};          ///< libfabric: such as "tcp;ofi_rxm"
  std::int64_t patience_ms = 30'000;  ///< how long to wait for the other processes
  std::int64_t keep_alive_ms = 100;   ///< how often nodes check that the others are alive; 0: never
};

/// The networks in this build: "verbs", "libfabric".
[[nodiscard]] std::vector<std::string> networks();

/// Runs the program on this node. Returns when it has ended on all nodes. Throws setup_error for unusable options or
/// missing devices, and what the program throws.
void run_on_network(const NetworkOptions& options, const std::function<void(Transport&)>& program);

}  // namespace loco
