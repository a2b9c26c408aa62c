// Mutual exclusion between the threads of all nodes: fair ticket locks on remote atomics (LOCO paper, Section 6.2,
// Apps. B.1, C.2, I).
//
// A lock's words are on its home node, where NICs alone access them; a seat on every node is where its turn is told to
// it, so that who waits looks at its own node's memory (lock_words.hpp). How a lock is taken: acquisition.hpp; how it
// is passed on: handover.hpp. A lock that is free is one round trip away. Turns come in the order of tickets, between
// nodes; threads of one node queue up locally, first come, first served, and hand the lock to the next one of the node
// at most `hand_overs_max` times in a row while other nodes may be waiting (a cohort lock: Dice, Marathe and Shavit,
// PPoPP 2012), once a node does not answer never.
//
// What the holder wrote, locally or on any node, is in memory before the next holder goes on: unlock() fences the nodes
// that do not have it yet. Writes to the node that is told need none: they are before the telling on the same queue
// pair. That is the home while nobody is known to wait, unless the lock is in its NIC's memory: two ways to one node.
// Errors: ownership_error for locking a lock that the thread holds already, or unlocking one that it does not hold;
// operation_error when the home does not answer, or when a node that does not answer may have taken the lock with it.
// The thread then does not hold it, the node's other threads may try. It has given its ticket back, the latest ticket
// first, so that the lock is as good as before if a node that answers has it after all; only behind the ticket of a
// node that stopped its own one is lost. unlock() lets go also when a node to be fenced does not answer;
// manager::check() tells.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/run_clock.hpp"

namespace loco {

class ack_key;
class acquisition;
class handover;
class patience;

struct mutex_options {
  std::uint32_t hand_overs_max = 16;  ///< in a row, between threads of one node
  /// False: letting go does not fence. For experiments: the bug that Section 6.2 tells of.
  bool fence = true;
  bool device_memory = false;  ///< the home's words are on its NIC, not in its host's memory
  /// False: with device_memory letting go does not fence the home, as if what is written there came in order with the
  /// lock. For experiments: wrong where the NIC's memory has a path of its own (nic.device_own_path).
  bool fence_home = true;
  std::optional<expect_num> peers = {};  ///< how many other nodes take part; empty means all, as an array needs
  /// Once a node does not answer, whoever sees nobody get the lock for so long takes it that this node had it. On top
  /// of the time in which an operation fails (Transport::retries_ps), which a holder that answers may have to wait.
  std::int64_t patience_ps = 1'000'000'000;
};

/// Locks 0, 1, ..., count - 1, striped over the nodes: lock k lives on node k % nodes.
class mutex_array : public channel {
 public:
  mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options = {});

  [[nodiscard]] std::uint64_t size() const { return count_; }
  void lock(std::uint64_t k);
  void unlock(std::uint64_t k);
  /// Takes the lock if nobody has it or waits for it, in two round trips; else false. Another node that lets go, or
  /// asks at the same time, may be the reason, too.
  [[nodiscard]] bool try_lock(std::uint64_t k);
  /// Tries again and again, for so long, and once at least; rests between two tries for an eighth of the time until
  /// then. Fair to nobody: who waits in lock() is served before.
  [[nodiscard]] bool try_lock_for(std::uint64_t k, std::int64_t ps);

  /// One of the locks, for std::lock_guard, std::scoped_lock and std::unique_lock: a Lockable, and for durations and
  /// times of the run's clock a TimedLockable, like std::timed_mutex.
  class element {
   public:
    element(mutex_array& array, std::uint64_t k) : array_(array), k_(k) {}
    void lock() { array_.lock(k_); }
    void unlock() { array_.unlock_in_guard(k_); }
    [[nodiscard]] bool try_lock() { return array_.try_lock(k_); }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
      return array_.try_lock_for(k_, picoseconds(time));
    }
    template <class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<run_clock, Duration>& end) {
      return array_.try_lock_for(k_, array_.until(end));
    }

   private:
    mutex_array& array_;
    std::uint64_t k_;
  };
  [[nodiscard]] element operator[](std::uint64_t k) { return {*this, k}; }

 protected:
  /// Picoseconds until then, 0 when it is over.
  template <class Duration>
  [[nodiscard]] std::int64_t until(const std::chrono::time_point<run_clock, Duration>& end) const {
    const std::int64_t end_ps = picoseconds(end.time_since_epoch()), now_ps = transport().now_ps();
    return end_ps > now_ps ? end_ps - now_ps : 0;
  }
  void unlock_in_guard(std::uint64_t k);

  mutex_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
              mutex_options options);

 private:
  friend class acquisition;
  friend class handover;

  /// What the threads of this node know of a lock. The plain members belong to whoever holds the lock locally.
  struct local_lock {
    explicit local_lock(Transport& transport) : next(transport), serving(transport) {}

    owned_flag next;     ///< local ticket to be given out
    owned_flag serving;  ///< local ticket whose turn it is
    std::uint64_t turn = 0;
    std::uint64_t drawn = 0;                ///< this node's ticket, and what was drawn with it
    bool contended = false;                 ///< others were seen to have drawn: look for their names on the home, too
    std::atomic<std::uint32_t> holder = 0;  ///< thread + 1; 0 is none. Any thread may ask whether it is the one
    std::uint32_t hand_overs = 0;
    bool handed_over = false;  ///< the node has the lock already
  };
  struct word_at {
    Region region;
    std::uint64_t offset = 0;
  };

  void create();
  [[nodiscard]] std::uint64_t home_bytes() const;  ///< of a lock
  [[nodiscard]] NodeId home(std::uint64_t k) const;
  /// A word of a lock's home (lock_words.hpp), name and sign of who drew a ticket there, a word of a node's seat.
  [[nodiscard]] word_at home_word(std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] word_at name_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at sign_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at seat_word(NodeId node, std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] Address my_seat(std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] local_lock& mine(std::uint64_t k);
  /// A node that does not answer and may have the lock, when it has been seen in the same state for so many times the
  /// time that a holder which answers may need.
  [[nodiscard]] std::optional<NodeId> lost_with(std::uint64_t state, patience& waited, std::int64_t times) const;
  [[nodiscard]] std::int64_t longest_rest_ps() const;
  /// Draws a ticket and looks which one is served and which one comes next, one right behind the other.
  void draw(std::uint64_t k, Address drawn, Address serving_and_next, ack_key& key);
  /// Gives a ticket back if it is the latest one: whoever draws next gets it again. With later ones drawn it stays
  /// drawn, for nobody would pass on its turn. The answer says what came next.
  void give_back(std::uint64_t k, std::uint64_t drawn, Address answer, ack_key& key);
  /// Throws operation_error when a node that does not answer may hold lock k: at once if the own ticket is given back,
  /// else when no later one that stands in the way can be expected to be.
  void require_hope(std::uint64_t k, bool given_back, std::uint64_t state, patience& waited) const;
  bool draw_if_free(std::uint64_t k, local_lock& local);
  /// The node's turn at a lock ends without the lock.
  void give_up(local_lock& lock);
  [[nodiscard]] bool held(const local_lock& lock) const;
  [[nodiscard]] std::string caller() const;  ///< for messages
  void require_held(std::uint64_t k, const local_lock& lock) const;

  std::optional<NodeId> home_;  ///< of all locks; else striped
  std::uint64_t count_;
  mutex_options options_;
  RegionIndex words_ = 0;  ///< on the home nodes
  RegionIndex seats_ = 0;  ///< on every node
  std::mutex mutex_;
  std::vector<std::atomic<local_lock*>> locks_;  ///< by lock; null until first used
  std::deque<local_lock> made_;                  ///< a deque never moves what it holds
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
  void unlock() { unlock_in_guard(0); }
  [[nodiscard]] bool try_lock() { return mutex_array::try_lock(0); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return mutex_array::try_lock_for(0, picoseconds(time));
  }
  template <class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<run_clock, Duration>& end) {
    return mutex_array::try_lock_for(0, until(end));
  }
};

}  // namespace loco
