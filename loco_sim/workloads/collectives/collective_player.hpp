// Plays a collective's schedule with puts, each followed by a word that announces it, as RDMA programs do. Only the
// first word of each slot is real data, which is summed and compared; the rest is bytes that NICs move.
//
// A rank sends what is ready, in the order of its moves. Moves to be added, or that are not contiguous, land beside the
// buffer; the rank adds or places them once they have arrived, but not into a slot that it is still sending. Iterations
// begin at the same time everywhere, which takes no time. Measured is the time from then until the last rank has
// everything and all its puts are complete.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/workloads/collectives/schedule.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads::collectives {

struct CollectivePlay {
  Collective what = Collective::all_reduce;
  Schedule schedule{};           ///< of each channel
  std::string name{};            ///< of the operation, in the results
  std::uint64_t size = 0;        ///< bytes of all channels; a multiple of 8 for each part of each channel
  std::uint32_t channels = 1;    ///< number of threads on each host, each with its own queue pairs
  std::uint32_t iterations = 1;  ///< measured iterations
  std::uint32_t warmup = 0;
  sim::BitsPerSecond reduce_rate{};  ///< rate at which a rank adds; zero: adding takes no time
};

/// Limit on a thread's work requests in flight, or on those of a stream.
inline constexpr std::uint32_t kCollectiveUnderWay = 16;
/// Streams from one rank to another: those of two trees that both have this edge.
inline constexpr std::uint32_t kCollectiveStreams = 2;

/// Spawns the threads of all nodes; the nodes in their order are the ranks.
void start_collective(const Setup& setup, CollectivePlay play);

}  // namespace loco::workloads::collectives
