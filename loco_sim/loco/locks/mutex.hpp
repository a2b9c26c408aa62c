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

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "loco_sim/loco/locks/lock_array.hpp"
#include "loco_sim/loco/locks/run_clock.hpp"

namespace loco {

/// Locks 0, 1, ..., count - 1, striped over the nodes: lock k lives on node k % nodes.
class mutex_array : public lock_array {
 public:
  mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options = {});

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
              mutex_options options)
      : lock_array(where, name, home, count, options) {}

 private:
  bool draw_if_free(std::uint64_t k, local_lock& local);
};

/// One lock, for std::lock_guard.
class mutex : private mutex_array {
 public:
  mutex(networked_node& mgr, std::string_view name, NodeId home = 0, mutex_options options = {})
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
