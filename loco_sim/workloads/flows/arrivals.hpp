// Flows by rule: who sends to whom, how much, and when the next one comes.
//
// Gaps and sizes are drawn from a stream of each host, by inversion, in integers: another workload, or another host,
// changes nobody's draws.
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
  std::uint32_t senders = 0;  ///< incast: so many, the next ones behind the receiver; 0: all others
  NodeId receiver = 0;        ///< incast
  std::uint32_t shift = 1;
  Arrivals arrivals = Arrivals::at_once;
  std::int64_t every_ps = 0;
  std::uint32_t load_thousandths = 0;                                ///< poisson: of the rate of each sender's port
  std::uint64_t port_rate = 0;                                       ///< bits a second
  std::int64_t until_ps = std::numeric_limits<std::int64_t>::max();  ///< the last arrival
  std::uint64_t count = 0;                                           ///< flows in all; 0: no bound
  std::uint64_t seed = 1;
};

/// In the order of their starts. At once, and every so often, without a bound: one round.
[[nodiscard]] FlowList generate(const FlowRule& rule, const SizeDistribution& sizes);

}  // namespace loco::workloads::flows
