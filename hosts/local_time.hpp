// A simulated thread's local time: temporal decoupling, as in SystemC's transaction-level modelling, where a quantum
// keeper lets a process run ahead of the kernel and synchronises it when others could tell (IEEE 1666-2011, 16.2,
// "Global quantum and quantum keeper").
//
// A thread's time is that of the machine's present step plus an offset: `ahead`, until the instant of its latest
// access, plus `owed`, what that access (or a turn of looks) costs and has not spent yet. The three verbs:
// `advance` makes the offset larger; `defer` moves the instant to the end of what is owed, while the step goes on;
// `synchronise` ends the step, and the thread's next one comes when its local time has passed.
//
// Before each access the thread says what kind it is, and this class decides which of the three it takes. Under random
// schedules each access to something shared is a step of its own. Under the timed schedule a step has as many as have
// the same effect at its instant as at theirs (Access, below). Nothing else knows timed from untimed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/time.hpp"

namespace loco::hosts {

class Fibers;

/// What a thread is about to do.
enum class Access : std::uint8_t {
  /// It only looks (loads, flags, polls that find nothing). Looks of one turn are made at its beginning and paid for at
  /// its end, as a polling loop of the hardware model does.
  look,
  /// It looks for something that stays so once it is. A loop that has changed something goes on to peek at flags and at
  /// its completion queue, and mostly finds nothing: these looks are made in the step of the change. When they lead to
  /// a pause, the thread is woken as if they had been made when they were due.
  early_look,
  /// It polls a completion queue that has something in it. It takes one entry, at the end of the poll: what follows
  /// from it needs no step of its own.
  poll,
  /// It changes something: at its own instant.
  change,
  /// A store or a work request. They are the thread's alone until they leave its store buffer: it makes them ahead of
  /// the clock, and the store buffer keeps them until they are due.
  buffered_change,
};

class LocalTime {
 public:
  explicit LocalTime(Fibers& threads) : threads_(threads) {}

  /// From the machine's present step to the thread's present.
  [[nodiscard]] sim::Duration offset() const { return ahead_ + owed_; }
  /// From the machine's present step to the thread's latest access.
  [[nodiscard]] sim::Duration ahead() const { return ahead_; }

  void advance(sim::Duration cost) { owed_ += cost; }
  void defer();
  void synchronise();

  /// Makes way for an access of the calling thread: its step may end, and others' come before it.
  void before(Access access);
  /// How many of `most` completions a poll after Access::poll may take.
  [[nodiscard]] std::size_t poll_limit(std::size_t most) const;
  /// A poll after Access::poll or Access::early_look has taken so many.
  void after_poll(std::size_t taken);
  /// The same for a poll after Access::look, which takes all that there is and pays for it afterwards.
  void after_whole_poll(std::size_t taken);
  /// Local computation; where times mean nothing, 1 ms at most: who waits in proportion to what has been measured would
  /// wait longer each time. Throws std::out_of_range for a time below 0, or beyond the end of time.
  void compute(std::int64_t ps);
  /// May a change that nobody looks at before the thread's next access be made together with its latest one?
  [[nodiscard]] bool may_join_latest_access() const;

  /// Transport::pause(); `wake` is one more key that the thread watches.
  void pause(std::uint64_t wake);
  /// Waits until the thread's store buffer is empty, or has room for one more entry.
  void drain();
  void make_room();
  /// Waits until somebody notifies what the thread watches. What it watched before is lost: its next pause returns at
  /// once.
  void wait_for_notice();

  /// The thread's next step begins. To be called by what takes the steps.
  void begin_step();

 private:
  void look();
  void early_look();
  void poll();
  void change();
  void buffered_change();
  /// Ends the step and lets the instant come for which the thread has looked ahead; what it owes stays.
  void catch_up();

  Fibers& threads_;
  sim::Duration ahead_;      // from this step until the instant of its latest access, or turn of looks
  sim::Duration owed_;       // cost of that access, or of these looks, not yet spent
  sim::Duration polling_;    // of this step's poll: spent before the step
  std::uint32_t looks_ = 0;  // since that instant
  bool acted_ = false;       // its latest access is not a look
  bool polled_ = false;      // it has looked at the completion queue since its last pause
  bool must_turn_ = false;   // the watch set was lost: the next pause returns at once
};

}  // namespace loco::hosts
