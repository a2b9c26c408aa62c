// Completions of one node: the words behind ack_key objects, and what the polling thread does with a completion
// (LOCO paper, App. C.1).
//
// An ack word is a Flag of 56 bits, one an operation in flight, and the status of the first failed operation in the
// top byte. The posting thread sets a bit, the polling thread alone clears bits and writes the status, so neither
// waits for the other. A completion token names the word and the bit, so that the polling thread needs no table.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/connections.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

namespace ack_word {
inline constexpr unsigned kOperations = 56;
inline constexpr std::uint64_t kInFlight = (std::uint64_t{1} << kOperations) - 1;
/// In tokens: of an operation without a bit of its own, which is told of only if it fails.
inline constexpr unsigned kNoBit = 63;
/// The token of an operation whose failure says that its peer does not answer, and nothing else (Posting::quiet).
inline constexpr std::uint64_t kQuietToken = 1;

[[nodiscard]] constexpr Status status(std::uint64_t word) { return static_cast<Status>(word >> kOperations); }
/// Tokens are never below 64: 0 is the token of an operation that nobody waits for.
[[nodiscard]] constexpr std::uint64_t token(Flag flag, unsigned bit) { return (std::uint64_t{flag} + 1) << 6U | bit; }
}  // namespace ack_word

class completions {
 public:
  completions(Transport& transport, const connections& present)
      : transport_(transport),
        present_(present),
        unwaited_(transport.make_flag()),
        given_up_(transport.num_nodes()),
        failed_(transport.num_nodes()),
        told_(transport.num_nodes()) {}

  /// An idle ack word: recycled if an abandoned one has become idle, new otherwise.
  Flag acquire_word();
  /// Gives a word back; its operations may still be in flight.
  void release_word(Flag word);

  /// The polling thread's work for one completion.
  void finish(const Completion& completion);

  /// Throws operation_error for the first failed operation that nobody waited for; the next one is then the first.
  void check();
  /// The next check() throws it.
  void tell_later(const operation_error& error);
  /// Throws operation_error for the failed operation of an ack word.
  [[noreturn]] void throw_failure(Flag word);

  /// Is this node given up: because an operation towards it has failed, as it does not answer, or because it has given
  /// up this one? It stays so until it is taken back.
  [[nodiscard]] bool failed(NodeId node) const { return failed_[node].load(std::memory_order_acquire); }
  [[nodiscard]] bool any_failed() const { return any_failed_.load(std::memory_order_acquire); }
  /// Has it said so itself?
  [[nodiscard]] bool gave_up_this_one(NodeId node) const { return told_[node].load(std::memory_order_acquire); }
  /// A node that some node has given up; nothing when none is known.
  [[nodiscard]] std::optional<NodeId> suspect() const {
    const std::uint32_t suspect = suspect_.load(std::memory_order_acquire);
    return suspect == 0 ? std::nullopt : std::optional(suspect - 1);
  }

  /// Gives a node up. `told`: it has said that it has given up this one.
  void give_up(NodeId node, bool told = false);
  /// Some node has given up that one, perhaps this one.
  void note_suspect(NodeId node);
  /// The connection with a node is a new one, of that number: it is not given up any more. What failed towards it
  /// before and nobody waited for is not told any more.
  void take_back(NodeId node, std::uint32_t number);
  /// Two nodes have taken each other back, over a connection of that number. What was said of them before is over.
  void note_taken_back(NodeId one, NodeId other, std::uint32_t number);
  /// The greatest number of a connection over which that node has been taken back, by any node that has said so: who is
  /// suspected is so since then. 0: none.
  [[nodiscard]] std::uint32_t latest_of(NodeId node) const;
  /// Nobody waits for what this node's operations have come to until now.
  void forget_failures();
  /// Called with a node before anybody here takes it for given up, and before it is the suspect that suspect() names:
  /// where the others look, it is to be seen first.
  struct Announcements {
    std::function<void(NodeId node)> given_up;
    std::function<void(NodeId node)> suspect;
  };
  void set_announcements(Announcements announcements) { announcements_ = std::move(announcements); }

  /// A fresh work id, never 0.
  std::uint64_t next_work_id();

 private:
  /// Who does not answer, and why what comes behind fails.
  void note_cause(const Completion& completion);
  void record(Flag word, const Completion& completion);
  [[nodiscard]] operation_error failure_of(Flag word, const std::string& which);

  /// What any_failed() and suspect() say, from the nodes that this one has given up.
  void reconsider();

  Transport& transport_;
  const connections& present_;
  Flag unwaited_;
  Announcements announcements_;
  std::vector<std::atomic<bool>> given_up_;  ///< by node: somebody here is giving it up
  std::vector<std::atomic<bool>> failed_;    ///< by node: and has done so
  std::vector<std::atomic<bool>> told_;      ///< by node
  std::atomic<bool> any_failed_ = false;
  std::atomic<std::uint32_t> suspect_ = 0;  ///< a node + 1
  std::optional<operation_error> to_tell_;
  std::map<Flag, Completion> failures_;  ///< the first one of each word that has any
  std::map<NodeId, Completion> causes_;  ///< by peer: the first one that was not flushed for another's sake
  mutable std::mutex mutex_;
  std::map<NodeId, std::uint32_t> latest_;  ///< latest_of()
  std::deque<Flag> released_;
  std::uint64_t work_ids_ = 0;
};

}  // namespace loco
