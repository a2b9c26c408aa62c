// A counter that all nodes add to: the channel of docs/write-a-channel.md.
//
// Every node has a word for each node's count, its own the true one. add() raises the own count and puts it to the
// others; value() adds up what has arrived here. Counts only grow, so value() never goes back. One thread a node adds.
#pragma once

#include <cstdint>
#include <string_view>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/operations/fence.hpp"

class counter : public loco::channel {
 public:
  counter(loco::manager& mgr, std::string_view name)
      : channel(mgr, name, loco::expect_num{mgr.num_nodes() - 1}),
        counts_(symmetric_region("counts", mgr.num_nodes() * kWord)) {
    join();
  }

  /// Adds to the counter. Others see it when it arrives.
  void add(std::uint64_t n) {
    const auto counts = words_of(counts_);
    counts[my_node()] = counts[my_node()] + n;
    const std::uint64_t mine = my_node() * kWord;
    for (loco::NodeId node = 0; node < num_nodes(); ++node)
      if (node != my_node()) mgr().put(counts.address() + mine, remote(counts_, node), mine, kWord);
  }

  /// All that this thread has added is on every node when this returns.
  void flush() { loco::write_fence(mgr()); }

  /// The sum of what has arrived here.
  [[nodiscard]] std::uint64_t value() {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : words_of(counts_)) sum += count;
    return sum;
  }

 private:
  static constexpr std::uint64_t kWord = 8;
  RegionIndex counts_;
};
