// The network barrier (LOCO paper, Section 4, Fig. 7 and Fig. 18).
//
// waiting() returns once every participant has called it as often as the caller, and everything the participants did
// before is done. It makes a global fence, raises the caller's counter, pushes it to the others, and waits locally for
// the others' counters. The counter is never pushed to its own node, which could overwrite a later count with an
// earlier one (Section 4.2).
//
// Any number of threads of a node may take part, each with its own counter. A thread takes a seat at its first call.
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
    /// Fence towards every node: the transitive barrier of Section 4.3, which LOCO ships.
    all_nodes,
    /// Fence towards the participants' nodes only: Section 4.1.
    participants,
    /// No fence: the first bug of App. D, for experiments.
    none,
  };
  Fence fence = Fence::all_nodes;
  std::uint32_t threads_per_node = 1;
  /// Nodes that take part; empty: all.
  std::vector<NodeId> participants = {};
};

class barrier : public channel {
 public:
  barrier(within where, std::string_view name, barrier_options options = {});

  /// Throws ownership_error if more threads call it than there are seats, and operation_error if a participant does not
  /// answer. The barrier cannot be used any more then.
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
  std::vector<NodeId> promised_;  ///< the nodes on which earlier operations are done
  std::mutex mutex_;
  std::map<std::uint32_t, seat> seats_;  ///< by thread
  var_array<std::uint64_t> arr_;
};

}  // namespace loco
