// Flows by rule: who sends how much to whom, and when the next flow starts.
//
// Gaps and sizes are drawn by inversion in integers, from a random stream for each host. So another workload or another
// host does not change a host's draws.
#pragma once

#include <cstdint>
#include <limits>

#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/flows/size_distribution.hpp"

namespace loco::workloads::flows {

enum class Pattern : std::uint8_t { incast, permutation, shift, all_to_all, random, victim };
enum class Arrivals : std::uint8_t { at_once, every, poisson };

struct FlowRule {
  std::uint32_t nodes = 2;
  Pattern pattern = Pattern::permutation;
  std::uint32_t senders = 0;  ///< incast: this many senders, those after the receiver; 0: all others
  NodeId receiver = 0;        ///< of an incast
  std::uint32_t shift = 1;
  Arrivals arrivals = Arrivals::at_once;
  std::int64_t every_ps = 0;
  std::uint32_t load_thousandths = 0;                                ///< poisson: load of each sender's port
  std::uint64_t port_rate = 0;                                       ///< bits per second
  std::int64_t until_ps = std::numeric_limits<std::int64_t>::max();  ///< time of the last arrival
  std::uint64_t count = 0;                                           ///< number of flows; 0: no limit
  std::uint64_t seed = 1;
};

/// The flows in the order of their starts. A rule for flows at once or at intervals, without a limit, gives one round.
[[nodiscard]] FlowList generate(const FlowRule& rule, const SizeDistribution& sizes);

}  // namespace loco::workloads::flows
