// Plays a schedule of a collective over puts, each with a word behind it that says that it has come, as programs over
// RDMA do. Of each slot the first word is real data, which is summed and compared; the rest is bytes that NICs move.
//
// A rank sends what is ready, in the order of its moves. What is to be added, and what does not lie in a row, lands
// beside the buffer; the rank adds or places it when it has come, but not into a slot that it is still sending.
// Iterations begin together, in no time: what is measured is from then until the last rank has all and all its puts are
// complete.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/workloads/collectives/schedule.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads::collectives {

struct CollectivePlay {
  Collective what = Collective::all_reduce;
  Schedule schedule{};           ///< for each channel
  std::string name{};            ///< of the operation in the results
  std::uint64_t size = 0;        ///< bytes, of all channels; a multiple of 8 for each part of each channel
  std::uint32_t channels = 1;    ///< as many threads a host, each with queue pairs of its own
  std::uint32_t iterations = 1;  ///< measured
  std::uint32_t warmup = 0;
  sim::BitsPerSecond reduce_rate{};  ///< at which a rank adds; zero: it takes no time
};

/// Work requests that a thread has under way at most.
inline constexpr std::uint32_t kCollectiveUnderWay = 16;

/// Spawns the threads of all nodes, which are the ranks in their order.
void start_collective(const Setup& setup, CollectivePlay play);

}  // namespace loco::workloads::collectives
