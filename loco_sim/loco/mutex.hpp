// Mutual exclusion between the threads of all nodes: fair ticket locks on remote atomics (LOCO paper, Section 6.2,
// Apps. B.1, C.2, I).
//
// A lock has two words on its home node, which NICs alone access: the next ticket to be given out, drawn with a remote
// fetch-and-add, and the ticket that is being served, which waiters read, first right behind the draw: a lock that is
// free is one round trip away. Threads of one node queue up locally, first come, first served; a thread that lets go
// hands the lock to the next one of its node, at most `hand_overs_max` times in a row while other nodes may be waiting
// (a cohort lock: Dice, Marathe and Shavit, PPoPP 2012), else to the next ticket; once a node does not answer, to the
// next ticket always. A waiter that is k-th in line asks again after k - 1 round trips (proportional backoff:
// Mellor-Crummey and Scott, TOCS 1991).
//
// What the holder wrote, locally or on any node, is in memory before the next holder goes on: unlock() fences the nodes
// that do not have it yet. Writes to the home node need none: the release follows them on the same queue pair.
// Errors: ownership_error for locking a lock that the thread holds already, or unlocking one that it does not hold;
// operation_error when the home does not answer, or when a node that does not answer may have taken the lock with it.
// The thread then does not hold it, the node's other threads may try. It has given its ticket back, the latest ticket
// first, so that the lock is as good as before if a node that answers has it after all; only behind the ticket of a
// node that stopped its own one is lost. unlock() lets go also when a node to be fenced does not answer;
// manager::check() tells.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/patience.hpp"

namespace loco {

struct mutex_options {
  std::uint32_t hand_overs_max = 16;  ///< in a row, between threads of one node
  /// False: letting go does not fence. For experiments: the bug that Section 6.2 tells of.
  bool fence = true;
  bool device_memory = false;            ///< the words are on the NIC of the home, not in its host's memory
  std::optional<expect_num> peers = {};  ///< how many other nodes take part; empty means all, as an array needs
  /// Once a node does not answer, whoever sees nobody get the lock for so long takes it that this node had it. On top
  /// of the time in which an operation fails (Transport::retries_ps), which a holder that answers may have to wait.
  std::int64_t patience_ps = 1'000'000'000;
};

class acquisition;

/// Locks 0, 1, ..., count - 1, striped over the nodes: lock k lives on node k % nodes.
class mutex_array : public channel {
 public:
  mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options = {});

  [[nodiscard]] std::uint64_t size() const { return count_; }
  void lock(std::uint64_t k);
  void unlock(std::uint64_t k);
  /// Lets go of a lock without fences and without waiting: what was written under it must be in memory.
  void release(std::uint64_t k, std::uint32_t lane);

 protected:
  mutex_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
              mutex_options options);

 private:
  friend class acquisition;

  /// What the threads of this node know of a lock. The plain members belong to whoever holds the lock locally.
  struct local_lock {
    Flag next;     ///< local ticket to be given out
    Flag serving;  ///< local ticket whose turn it is
    std::uint64_t turn = 0;
    std::uint64_t ticket = 0;
    std::atomic<std::uint32_t> holder = 0;  ///< thread + 1; 0 is none. Any thread may ask whether it is the one
    std::uint32_t hand_overs = 0;
    bool handed_over = false;  ///< the node has the lock already
  };
  struct place {
    Region region;
    std::uint64_t next;  ///< offsets of the two words
    std::uint64_t serving;
  };

  void create();
  [[nodiscard]] NodeId home(std::uint64_t k) const;
  [[nodiscard]] place place_of(std::uint64_t k) const;
  [[nodiscard]] local_lock& mine(std::uint64_t k);
  /// A node that does not answer and may have the lock, when the same ticket has been served for so many times the
  /// time that a holder which answers may need.
  [[nodiscard]] std::optional<NodeId> lost_with(std::uint64_t serving, patience& waited, std::int64_t times);
  /// Draws a ticket and looks which one is served, one right behind the other: what is served comes no further than a
  /// ticket that was drawn, so it does not matter which of the two is done first.
  void draw(std::uint64_t k, const mem_ref& answers, ack_key& key);
  void look(std::uint64_t k, const mem_ref& answers, ack_key& key);
  void give_back(std::uint64_t k, std::uint64_t ticket, const mem_ref& answers, ack_key& key);
  /// Throws operation_error when a node that does not answer may hold lock k: at once if the own ticket is given back,
  /// else when no later one that stands in the way can be expected to be.
  void require_hope(std::uint64_t k, bool given_back, std::uint64_t serving, patience& waited);
  /// The node's turn at a lock ends without the lock.
  void give_up(local_lock& lock);
  /// Draws the node's ticket and waits until it is served.
  void take_ticket(std::uint64_t k, local_lock& lock);
  /// Hands over to this node's next thread, if there is one and it may; else to the next ticket. Fences what has to be
  /// fenced for that, if asked to.
  void let_go(std::uint64_t k, local_lock& lock, bool fence);
  [[nodiscard]] bool held(const local_lock& lock) const;
  [[nodiscard]] std::string caller() const;  ///< for messages
  void require_held(std::uint64_t k, const local_lock& lock) const;
  void serve_next(std::uint64_t k, std::uint64_t ticket);

  std::optional<NodeId> home_;  ///< of all locks; else striped
  std::uint64_t count_;
  mutex_options options_;
  RegionIndex words_ = 0;     ///< on the home nodes
  RegionIndex releases_ = 0;  ///< here: what a release puts, a word a lock
  std::mutex mutex_;
  std::vector<std::atomic<local_lock*>> locks_;  ///< by lock; null until first used
  std::deque<local_lock> made_;                  ///< a deque never moves what it holds
};

/// A lock on its way to one of a thread's several tasks: poll() never waits. One lock at a time; it may be used again.
class acquisition {
 public:
  explicit acquisition(mutex_array& locks);
  /// Joins the queue for lock k. The trace's calls are in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// Is the lock held? Then mutex_array::release lets go of it. What it throws ends the attempt.
  [[nodiscard]] bool poll();

 private:
  bool got();
  bool advance();

  enum class Step : std::uint8_t { queue, draw, look, giving_back, held };

  mutex_array& locks_;
  std::uint64_t lock_ = 0;
  std::uint32_t lane_ = 0;
  mutex_array::local_lock* local_ = nullptr;  ///< stays where it is
  std::uint64_t turn_ = 0;
  std::uint64_t serving_ = 0;  ///< the ticket that was served at the latest look
  patience patience_;
  Step step_ = Step::held;
  mem_ref answers_;
  ack_key key_;
};

/// One lock, for std::lock_guard.
class mutex : private mutex_array {
 public:
  mutex(manager& mgr, std::string_view name, NodeId home = 0, mutex_options options = {})
      : mutex_array(mgr, name, home, 1, options) {}
  mutex(channel& parent, std::string_view name, NodeId home = 0, mutex_options options = {})
      : mutex_array(parent, name, home, 1, options) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;

  void lock() { mutex_array::lock(0); }
  void unlock();
};

}  // namespace loco
