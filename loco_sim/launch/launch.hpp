// Running a LOCO program on a real network, chosen by words: what a command line gives.
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
  std::string hosts = {};             ///< "node0,node1:18601", the same for all (process/host_list.hpp)
  std::optional<NodeId> rank = {};    ///< which of them this process is; nothing: $LOCO_RANK
  std::string device = {};            ///< verbs: its name; empty: the first with an active port
  int gid_index = -1;                 ///< verbs: -1: a RoCE v2 one with an IPv4 address
  std::string provider = {};          ///< libfabric: such as "tcp;ofi_rxm"
  std::int64_t patience_ms = 30'000;  ///< for the other processes to come
  std::int64_t keep_alive_ms = 100;   ///< how often nodes ask each other whether they are there; 0: never
};

/// Those that this build has: "verbs", "libfabric".
[[nodiscard]] std::vector<std::string> networks();

/// Runs the program on this node; returns when it has ended on all nodes. Throws setup_error for what cannot be meant
/// or is not there, and what the program throws.
void run_on_network(const NetworkOptions& options, const std::function<void(Transport&)>& program);

}  // namespace loco
