// Mutual exclusion between the threads of all nodes: fair ticket locks on remote atomics (LOCO paper, Section 6.2,
// Apps. B.1, C.2, I).
//
// A lock's words are on its home node, where only NICs access them. Each node has a seat where it is told its turn, so
// that a waiter polls its own memory (lock_words.hpp). acquisition.hpp takes a lock, handover.hpp passes it on. Taking
// a free lock costs one round trip. Between nodes turns follow the tickets. Threads of one node queue up locally, first
// come, first served, and pass the lock to each other at most `hand_overs_max` times in a row while other nodes may
// wait (a cohort lock: Dice, Marathe and Shavit, PPoPP 2012). Once some node does not answer they stop doing so,
// because waiters then need to see tickets advance.
//
// Whatever the holder wrote, locally or on any node, is in memory before the next holder continues: unlock() fences the
// nodes that may lack it. Writes to the node that is told its turn need no fence, since the same queue pair orders them
// before the turn. While no waiter is known that node is the home, unless the lock is in its NIC's memory, which has a
// second path.
// Errors: ownership_error for locking a lock that the thread holds, or unlocking one that it does not hold.
// operation_error if the home does not answer, or if a node that does not answer may have taken the lock with it. The
// thread then does not hold the lock, and other threads of the node may try. Its ticket is returned, the latest one
// first, so that the lock still works if a healthy node has it after all; a ticket after that of a stopped node is
// lost. unlock() releases even if a node to be fenced does not answer; manager::check() reports that.
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
  /// Takes the lock if nobody has it or waits for it, in two round trips. May also return false because another node
  /// releases it or tries at the same time. A thread that then lets go of another lock, as std::scoped_lock does, rests
  /// before it takes the next one, for a time that differs between threads and grows: two that go on in step would
  /// find each other's locks taken for ever.
  [[nodiscard]] bool try_lock(std::uint64_t k);
  /// Retries for `ps` picoseconds, at least once, and rests between tries for an eighth of the time so far. Not fair:
  /// threads in lock() are served first.
  [[nodiscard]] bool try_lock_for(std::uint64_t k, std::int64_t ps);

  /// One of the locks, for std::lock_guard, std::scoped_lock and std::unique_lock. It is Lockable, and TimedLockable
  /// for durations and for times of run_clock, like std::timed_mutex.
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
  /// Picoseconds from now until `end`; 0 if it has passed.
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
  void rest_before_trying_again();
  bool take_if_free(std::uint64_t k);
  bool draw_if_free(std::uint64_t k, local_lock& local);
};

/// One lock, for std::lock_guard.
class mutex : private mutex_array {
 public:
  mutex(within where, std::string_view name, NodeId home = 0, mutex_options options = {})
      : mutex_array(where, name, home, 1, options) {}

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
