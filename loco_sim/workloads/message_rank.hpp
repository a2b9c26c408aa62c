// What MPI libraries do, over SEND and RECV on the same hardware, to compare LOCO's objects with (LOCO paper, Section
// 6.1): ranks that send each other messages, barriers among them, and broadcasts that do not block.
//
// A rank is a thread. Messages are eager and matched by sender and tag, in a hash table as UCX does: two looks each.
// Between nodes they are SENDs into receive buffers that are posted in advance (loco_sim/transport/message_port.hpp);
// between ranks of a node they go through boxes in shared memory, one for each pair, as in Open MPI's sm transport.
// What the library itself computes for a received message (progress, callbacks, requests) is one number, received_ps:
// MPICH and UCX take 225 ns for it on ThunderX2 servers (Zambre et al., "Breaking Band: A Breakdown of High-performance
// Communication", 2020), and 27 ns for a send, which are left out, as are datatypes, communicators and rendezvous.
// Nothing fences: like MPI's barrier they synchronise threads, not memory.
//   dissemination        Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988
//   recursive doubling   Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
//                        MPICH", 2005. Open MPI takes it for a power of two ranks, dissemination else (coll/tuned).
//   broadcast            binomial tree with the rounds of libNBC (Hoefler, Lumsdaine and Rehm, "Implementation and
//                        performance analysis of non-blocking collective operations for MPI", SC 2007), which is Open
//                        MPI's MPI_Ibcast: up to four ranks the root sends to all
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/message_port.hpp"

namespace loco::workloads {

using Rank = PortId;  ///< node times ranks a node, plus the thread's number
using Tag = std::uint64_t;

/// The boxes of a node: from each of its ranks to each other one, a few cells in turn. Made before the threads use it.
class message_boxes {
 public:
  message_boxes(Transport& node, std::uint32_t ranks_per_node, std::uint32_t words_max);

  /// Waits for a free cell.
  void send(std::uint32_t from, std::uint32_t to, Tag tag, std::span<const std::uint64_t> words);
  /// The next message to `to` from `from`: its tag, when there is one.
  std::optional<Tag> receive(std::uint32_t from, std::uint32_t to, std::vector<std::uint64_t>& words);
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

 private:
  static constexpr std::uint64_t kCells = 8;

  struct Box {
    std::uint64_t sent = 0;      ///< the sender's own knowledge
    std::uint64_t received = 0;  ///< the receiver's
  };

  [[nodiscard]] std::uint64_t cell_words() const { return 3 + words_max_; }  ///< number, length, tag, words
  [[nodiscard]] Address box_address(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Address cell(std::uint32_t from, std::uint32_t to, std::uint64_t number) const;

  Transport& node_;
  std::uint32_t ranks_;
  std::uint32_t words_max_;
  Region memory_;  ///< a box: how many were received, then the cells
  std::vector<Box> boxes_;
};

class message_rank {
 public:
  /// A receive that is posted. Stays where it is until it is done.
  struct Request {
    bool done = false;
    std::vector<std::uint64_t> words = {};
  };

  /// The calling thread is number `thread` of its node.
  message_rank(Transport& node, MessageNetwork& network, message_boxes& boxes, std::uint32_t thread,
               std::int64_t received_ps = 0);

  [[nodiscard]] Rank rank() const { return port_.id(); }
  /// The words may be reused at once.
  void send(Rank to, Tag tag, std::span<const std::uint64_t> words);
  void post_receive(Rank from, Tag tag, Request& request);
  /// Takes what has come. False when nothing had; then the thread may pause.
  bool progress();
  /// Until it comes.
  void receive(Rank from, Tag tag, Request& request);
  /// The program looks at this many requests.
  void look_at(std::size_t requests) { port_.charge_looks(requests); }

 private:
  using Key = std::pair<Rank, Tag>;
  void arrived(Rank from, Tag tag, std::span<const std::uint64_t> words);

  Transport& node_;
  MessagePort& port_;
  message_boxes& boxes_;
  std::uint32_t thread_;
  std::int64_t received_ps_;
  std::multimap<Key, Request*> expected_;
  std::multimap<Key, std::vector<std::uint64_t>> unexpected_;
  std::vector<std::uint64_t> words_;
};

enum class BarrierAlgorithm : std::uint8_t { dissemination, recursive_doubling };

class message_barrier {
 public:
  message_barrier(message_rank& rank, std::uint32_t ranks, BarrierAlgorithm algorithm)
      : rank_(rank), ranks_(ranks), algorithm_(algorithm) {}

  void waiting();

 private:
  void tell(Rank rank, std::uint32_t round);
  void hear(Rank rank, std::uint32_t round);

  message_rank& rank_;
  std::uint32_t ranks_;
  BarrierAlgorithm algorithm_;
  std::uint64_t count_ = 0;
  message_rank::Request request_;
};

/// Broadcasts from rank 0, any number of them under way. Progress is made in progress() only, which looks at each of
/// them, as libNBC does.
class message_broadcast {
 public:
  message_broadcast(message_rank& rank, std::uint32_t ranks);

  /// Rank 0: sends message number i. It is done when it is on its way.
  void send(Tag i, std::span<const std::uint64_t> words);
  /// The others, in the order of the numbers: message number i may come.
  void expect(Tag i);
  /// False when nothing has happened.
  bool progress();
  /// Messages under way, oldest first: number, and words once `request.done` and passed on.
  struct UnderWay {
    Tag number = 0;
    bool passed_on = false;
    message_rank::Request request = {};
  };
  [[nodiscard]] std::deque<UnderWay>& under_way() { return under_way_; }

 private:
  void pass_on(Tag i, std::span<const std::uint64_t> words);

  message_rank& rank_;
  Rank parent_ = 0;
  std::vector<Rank> children_;
  std::deque<UnderWay> under_way_;
};

}  // namespace loco::workloads
