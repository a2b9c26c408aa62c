// Completions of one node: the ack words behind ack_key objects, and what the polling thread does with a completion
// (LOCO paper, App. C.1).
//
// An ack word is a Flag: the low 56 bits stand for one operation in flight each, the top byte holds the status of the
// first failed operation. The posting thread sets a bit; the polling thread alone clears bits and writes the status, so
// neither waits for the other. A token names the word and the bit, so the polling thread needs no table.
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
/// The bit number in the token of an operation that has no bit of its own, because only its failure is reported.
inline constexpr unsigned kNoBit = 63;
/// Token of an operation whose failure only shows that its peer does not answer (Posting::quiet).
inline constexpr std::uint64_t kQuietToken = 1;

[[nodiscard]] constexpr Status status(std::uint64_t word) { return static_cast<Status>(word >> kOperations); }
/// Tokens start at 64, so that 0 can stand for an operation that nobody waits for.
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

  /// An idle ack word: a released word if the oldest one has become idle, otherwise a new one.
  Flag acquire_word();
  /// Releases a word. Its operations may still be in flight.
  void release_word(Flag word);

  /// Processes one completion. Called by the polling thread only.
  void finish(const Completion& completion);

  /// Throws operation_error for the first failed operation that nobody waited for, and clears it.
  void check();
  /// Keeps an error for the next check() to throw.
  void tell_later(const operation_error& error);
  /// Throws operation_error for the failed operation of an ack word.
  [[noreturn]] void throw_failure(Flag word);

  /// True if this node has given up `node`: an operation towards it failed because it does not answer, or it has given
  /// up this node. It stays true until take_back().
  [[nodiscard]] bool failed(NodeId node) const { return failed_[node].load(std::memory_order_acquire); }
  [[nodiscard]] bool any_failed() const { return any_failed_.load(std::memory_order_acquire); }
  /// True if the node itself has said that it gave up this one.
  [[nodiscard]] bool gave_up_this_one(NodeId node) const { return told_[node].load(std::memory_order_acquire); }
  /// A suspect: a node that some node has given up. Nothing if none is known.
  [[nodiscard]] std::optional<NodeId> suspect() const {
    const std::uint32_t suspect = suspect_.load(std::memory_order_acquire);
    return suspect == 0 ? std::nullopt : std::optional(suspect - 1);
  }

  /// Gives a node up. `told`: that node has said that it gave up this one.
  void give_up(NodeId node, bool told = false);
  /// Some node has given up `node`, which may be this one.
  void note_suspect(NodeId node);
  /// Rejoins with a node over the new connection `number`. Failures towards it that nobody waited for are dropped,
  /// because they belong to the old connection.
  void take_back(NodeId node, std::uint32_t number);
  /// Two nodes have rejoined over connection `number`, so neither is a suspect on account of the other any more.
  void note_taken_back(NodeId one, NodeId other, std::uint32_t number);
  /// The greatest connection number over which that node has rejoined any node, as far as is known; 0 if it never has.
  /// A message that suspects the node over an older connection is stale.
  [[nodiscard]] std::uint32_t latest_of(NodeId node) const;
  /// Drops the failures so far that nobody has waited for.
  void forget_failures();
  /// Called before this node treats a peer as given up, and before suspect() names it. The announcement goes to memory
  /// that other nodes read, and they must see it before they see any effect of it.
  struct Announcements {
    std::function<void(NodeId node)> given_up;
    std::function<void(NodeId node)> suspect;
  };
  void set_announcements(Announcements announcements) { announcements_ = std::move(announcements); }

  /// A new work id, never 0.
  std::uint64_t next_work_id();

 private:
  /// Gives up a peer that does not answer, and keeps the first error that explains why later operations are flushed.
  void note_cause(const Completion& completion);
  void record(Flag word, const Completion& completion);
  [[nodiscard]] operation_error failure_of(Flag word, const std::string& which);

  /// Recomputes any_failed() and suspect() from the nodes that this one has given up.
  void reconsider();

  Transport& transport_;
  const connections& present_;
  Flag unwaited_;
  Announcements announcements_;
  std::vector<std::atomic<bool>> given_up_;  ///< by node: give_up() has begun
  std::vector<std::atomic<bool>> failed_;    ///< by node: give_up() is done
  std::vector<std::atomic<bool>> told_;      ///< by node: it has said that it gave up this one
  std::atomic<bool> any_failed_ = false;
  std::atomic<std::uint32_t> suspect_ = 0;  ///< the suspect's node number plus 1; 0: none
  std::optional<operation_error> to_tell_;
  std::map<Flag, Completion> failures_;  ///< by ack word: its first failure
  std::map<NodeId, Completion> causes_;  ///< by peer: the first failure other than a flush
  mutable std::mutex mutex_;
  std::map<NodeId, std::uint32_t> latest_;  ///< by node: latest_of()
  std::deque<Flag> released_;
  std::uint64_t work_ids_ = 0;
};

}  // namespace loco
