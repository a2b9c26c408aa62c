// Ranks that exchange messages like MPI libraries, over SEND and RECV on the same hardware, for comparison with LOCO's
// objects (LOCO paper, Section 6.1). message_collectives.hpp has the collective operations.
//
// A rank is a thread. Messages are eager and matched by sender and tag in a hash table as in UCX, which reads two words
// for each. Between nodes they are SENDs into receive buffers posted in advance (loco_sim/baselines/message_port.hpp).
// Between ranks of a node they go through boxes in shared memory, one for each pair, as in Open MPI's sm transport. The
// library's own CPU time (requests, progress, callbacks) is one number for each message sent and one for each received:
// MPICH and UCX take 27 ns and 225 ns on ThunderX2 servers (Zambre et al., "Breaking Band: A Breakdown of
// High-performance Communication", 2020). Datatypes, communicators and rendezvous are left out.
//
// Waiting for one of several requests costs what it does in Open MPI 5 (ompi/request/req_wait.c, req_test.c).
// MPI_Waitany marks each request with a compare-and-swap, up to the first that is complete, and removes the marks with
// as many, so each completion costs time proportional to the number of requests. MPI_Testsome checks each request once
// and returns all that are complete.
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

using Rank = PortId;  ///< node times ranks per node, plus the thread's number
using Tag = std::uint64_t;

/// The boxes of a node: some cells, used in turn, from each of its ranks to each other one. Must be made before the
/// threads use it.
class message_boxes {
 public:
  message_boxes(Transport& node, std::uint32_t ranks_per_node, std::uint32_t words_max);

  /// Waits for a free cell.
  void send(std::uint32_t from, std::uint32_t to, Tag tag, std::span<const std::uint64_t> words);
  /// Receives the next message to `to` from `from`. Returns its tag, or nothing if there is none.
  std::optional<Tag> receive(std::uint32_t from, std::uint32_t to, std::vector<std::uint64_t>& words);
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

 private:
  static constexpr std::uint64_t kCells = 8;

  struct Box {
    std::uint64_t sent = 0;      ///< known to the sender
    std::uint64_t received = 0;  ///< known to the receiver
  };

  [[nodiscard]] std::uint64_t cell_words() const { return 3 + words_max_; }  ///< number, length, tag, words
  [[nodiscard]] Address box_address(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Address cell(std::uint32_t from, std::uint32_t to, std::uint64_t number) const;

  Transport& node_;
  std::uint32_t ranks_;
  std::uint32_t words_max_;
  Region memory_;  ///< a box: the number of messages received, then the cells
  std::vector<Box> boxes_;
};

class message_rank {
 public:
  /// A posted receive. Its address must not change until it is done.
  struct Request {
    bool done = false;
    std::vector<std::uint64_t> words = {};
  };

  /// CPU time of the library for each message, in addition to the time of the simulated hardware.
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
  /// Takes the messages that have arrived. Returns false if there were none; then the thread may pause.
  bool progress();
  /// Waits until it arrives.
  void receive(Rank from, Tag tag, Request& request);
  /// MPI_Waitany: waits until one of the requests is done and returns its index. Null means MPI_REQUEST_NULL; at least
  /// one is not null.
  std::size_t wait_any(std::span<Request* const> requests);
  /// MPI_Testsome: returns the requests that are done, after checking once for new messages if there are none yet.
  std::vector<std::size_t> test_some(std::span<Request* const> requests);
  /// The library reads words of its own.
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
