// What MPI libraries do, on the same hardware, to compare LOCO's objects with (LOCO paper, Section 6.1): barriers among
// ranks and a broadcast tree.
//
// A rank is a thread. Messages are eager: the sender writes them into memory that the receiver polls, in slots of their
// own (Liu et al., "High performance RDMA-based MPI implementation over InfiniBand", ICS 2003); between threads of a
// node they are stores. There are no tags, no matching and no rendezvous, so these are faster than an MPI library.
// Nothing fences: like MPI's barrier they synchronise threads, not memory.
//   dissemination       Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988
//   recursive doubling  Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
//   2005 binomial tree       the same
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/manager.hpp"

namespace loco::workloads {

enum class BarrierAlgorithm : std::uint8_t { dissemination, recursive_doubling };

class message_barrier : public channel {
 public:
  message_barrier(manager& mgr, std::string_view name, std::uint32_t threads_per_node, BarrierAlgorithm algorithm)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}),
        threads_(threads_per_node),
        ranks_(mgr.num_nodes() * threads_per_node),
        algorithm_(algorithm),
        flags_(symmetric_region("flags", threads_ * kFlags * kWord)),
        sources_(create_region("sources", threads_ * kFlags * kWord)),
        count_(threads_per_node) {
    join();
  }

  /// Of the node's thread number `thread`, from 0.
  void waiting(std::uint32_t thread) {
    const std::uint32_t rank = my_node() * threads_ + thread;
    ++count_[thread];
    if (algorithm_ == BarrierAlgorithm::dissemination) {
      for (std::uint32_t k = 0; (1U << k) < ranks_; ++k) {
        tell(thread, (rank + (1U << k)) % ranks_, k);
        hear(thread, k);
      }
      return;
    }
    // Ranks beyond the greatest power of two let another one stand for them.
    const std::uint32_t full = std::bit_floor(ranks_);
    if (rank >= full) {
      tell(thread, rank - full, kBefore);
      hear(thread, kAfter);
      return;
    }
    const bool stands = rank + full < ranks_;
    if (stands) hear(thread, kBefore);
    for (std::uint32_t k = 0; (1U << k) < full; ++k) {
      tell(thread, rank ^ (1U << k), k);
      hear(thread, k);
    }
    if (stands) tell(thread, rank + full, kAfter);
  }

 private:
  static constexpr std::uint32_t kFlags = 34;  ///< a round each, and two
  static constexpr std::uint32_t kBefore = 32;
  static constexpr std::uint32_t kAfter = 33;

  [[nodiscard]] static std::uint64_t offset(std::uint32_t thread, std::uint32_t flag) {
    return (std::uint64_t{thread} * kFlags + flag) * kWord;
  }

  /// The source is free again: the round of the barrier before has been heard.
  void tell(std::uint32_t thread, std::uint32_t rank, std::uint32_t flag) {
    const NodeId node = rank / threads_;
    const std::uint64_t there = offset(rank % threads_, flag);
    if (node == my_node()) return transport().store(local(flags_).base + there, count_[thread]);
    const Address source = local(sources_).base + offset(thread, flag);
    transport().store(source, count_[thread]);
    mgr().put(source, remote(flags_, node), there, kWord);
  }
  void hear(std::uint32_t thread, std::uint32_t flag) {
    while (transport().load(local(flags_).base + offset(thread, flag)) < count_[thread]) transport().pause();
  }

  std::uint32_t threads_;
  std::uint32_t ranks_;
  BarrierAlgorithm algorithm_;
  RegionIndex flags_;
  RegionIndex sources_;
  std::vector<std::uint64_t> count_;  ///< by thread: of its barriers
};

/// Broadcasts from node 0 down a binomial tree; at most `slots` may be on their way.
class message_tree : public channel {
 public:
  message_tree(manager& mgr, std::string_view name, std::uint64_t words, std::uint32_t slots)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}),
        words_(words),
        slots_(slots),
        cells_(symmetric_region("cells", slots * (words + 1) * kWord)) {
    join();
  }

  /// Node 0: message number i, from 1.
  void send(std::uint64_t i, std::span<const std::uint64_t> message) {
    transport().store_bytes(address(i) + kWord, std::as_bytes(message));
    transport().store(address(i), i);
    forward(i);
  }
  /// The others: waits for message number i, sends it on, and gives it.
  void receive(std::uint64_t i, std::span<std::uint64_t> message) {
    while (transport().load(address(i)) < i) transport().pause();
    forward(i);
    transport().load_bytes(address(i) + kWord, std::as_writable_bytes(message));
  }

 private:
  [[nodiscard]] std::uint64_t offset(std::uint64_t i) const { return i % slots_ * (words_ + 1) * kWord; }
  [[nodiscard]] Address address(std::uint64_t i) const { return local(cells_).base + offset(i); }

  /// The number comes after the words: it is put after them, on the same queue pair. Children with the largest subtrees
  /// come first.
  void forward(std::uint64_t i) {
    const std::uint32_t lowest = my_node() == 0 ? std::bit_ceil(num_nodes()) : my_node() & (0U - my_node());
    for (std::uint32_t step = lowest >> 1U; step != 0; step >>= 1U) {
      const NodeId child = my_node() + step;
      if (child >= num_nodes()) continue;
      mgr().put(address(i) + kWord, remote(cells_, child), offset(i) + kWord, words_ * kWord);
      mgr().put(address(i), remote(cells_, child), offset(i), kWord);
    }
  }

  std::uint64_t words_;
  std::uint64_t slots_;
  RegionIndex cells_;
};

}  // namespace loco::workloads
