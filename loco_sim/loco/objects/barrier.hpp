// The network barrier (LOCO paper, Section 4, Fig. 7 and Fig. 18).
//
// waiting() returns when every participant has called it as often as the caller, and everything that the
// participants did before is done: first a global fence, then one's own counter is raised and pushed to the others,
// then one waits, locally, for the others' counters. The counter is never pushed to the own node: that could
// revert a later count to an earlier one (Section 4.2).
//
// Any number of threads of a node may take part, each with its own counter; a thread takes a seat at its first call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/objects/var_array.hpp"

namespace loco {

struct barrier_options {
  enum class Fence : std::uint8_t {
    /// Every node: the transitive barrier of Section 4.3, which LOCO ships.
    all_nodes,
    /// The participants' nodes only: Section 4.1.
    participants,
    /// None: the first bug of App. D. For experiments.
    none,
  };
  Fence fence = Fence::all_nodes;
  std::uint32_t threads_per_node = 1;
  /// Nodes that take part; empty means all.
  std::vector<NodeId> participants = {};
};

class barrier : public channel {
 public:
  barrier(within where, std::string_view name, barrier_options options = {});

  /// Throws ownership_error when more threads call than have seats, operation_error when a participant does not answer:
  /// then the barrier is of no use any more.
  void waiting();

 private:
  struct seat {
    std::uint64_t count = 0;
    std::size_t index = 0;  ///< of the thread's counter in arr_
  };

  [[nodiscard]] barrier_options filled(barrier_options options) const;
  void start();
  [[nodiscard]] seat& my_seat();
  void wait_for_suspect(class patience& waited);

  barrier_options options_;
  std::vector<NodeId> promised_;  ///< the nodes whose operations the barrier says are done
  std::mutex mutex_;
  std::map<std::uint32_t, seat> seats_;  ///< by thread
  var_array<std::uint64_t> arr_;
};

}  // namespace loco
