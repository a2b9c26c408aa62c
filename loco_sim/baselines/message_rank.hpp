// Ranks that send each other messages as MPI libraries do, over SEND and RECV on the same hardware, to compare LOCO's
// objects with (LOCO paper, Section 6.1). message_collectives.hpp has the collective operations.
//
// A rank is a thread. Messages are eager and matched by sender and tag, in a hash table as UCX does: two looks each.
// Between nodes they are SENDs into receive buffers that are posted in advance (loco_sim/baselines/message_port.hpp);
// between ranks of a node they go through boxes in shared memory, one for each pair, as in Open MPI's sm transport.
// The library's own CPU time (requests, progress, callbacks) is two numbers, one for a message that is sent and one for
// a message that has come: MPICH and UCX take 27 ns and 225 ns on ThunderX2 servers (Zambre et al., "Breaking
// Band: A Breakdown of High-performance Communication", 2020). Datatypes, communicators and rendezvous are left out.
//
// The cost of waiting for one of several requests is that of Open MPI 5 (ompi/request/req_wait.c, req_test.c).
// MPI_Waitany leaves its mark in each request with a compare-and-swap, up to the first that is complete, and takes the
// marks off again with as many: each completion costs time proportional to the requests waited for. MPI_Testsome looks
// at each request once and takes all that are complete.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loco_sim/baselines/message_port.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco::baselines {

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

  /// CPU time of the library for each message, beside the time of the simulated hardware.
  struct Costs {
    std::int64_t sent_ps = 0;
    std::int64_t received_ps = 0;
  };

  /// The calling thread is number `thread` of its node.
  message_rank(Transport& node, MessageNetwork& network, message_boxes& boxes, std::uint32_t thread, Costs costs);

  [[nodiscard]] Rank rank() const { return port_.id(); }
  /// The words may be reused at once.
  void send(Rank to, Tag tag, std::span<const std::uint64_t> words);
  void post_receive(Rank from, Tag tag, Request& request);
  /// Takes the messages that have come. False when none had; then the thread may pause.
  bool progress();
  /// Until it comes.
  void receive(Rank from, Tag tag, Request& request);
  /// MPI_Waitany: until one of the requests is done; which. Null stands for MPI_REQUEST_NULL; one is not.
  std::size_t wait_any(std::span<Request* const> requests);
  /// MPI_Testsome: those that are done, after one look at what has come if there is none yet.
  std::vector<std::size_t> test_some(std::span<Request* const> requests);
  /// The library looks at words of its own.
  void look_at(std::size_t words) { port_.charge_looks(words); }

 private:
  using Key = std::pair<Rank, Tag>;
  void arrived(Rank from, Tag tag, std::span<const std::uint64_t> words);

  Transport& node_;
  MessagePort& port_;
  message_boxes& boxes_;
  std::uint32_t thread_;
  Costs costs_;
  std::multimap<Key, Request*> expected_;
  std::multimap<Key, std::vector<std::uint64_t>> unexpected_;
  std::vector<std::uint64_t> words_;
};

}  // namespace loco::baselines
