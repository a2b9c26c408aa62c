// A simulated thread's local time: temporal decoupling, as in SystemC's transaction-level modelling, where a quantum
// keeper lets a process run ahead of the kernel and synchronises it when others could tell (IEEE 1666-2011, 16.2,
// "Global quantum and quantum keeper").
//
// A thread's time is that of the machine's present step plus an offset: `ahead`, up to the instant of its latest
// access, plus `owed`, the unspent cost of that access or of a turn of looks. Three operations change it: `advance`
// enlarges the offset; `defer` moves the instant to the end of what is owed while the step goes on; `synchronise` ends
// the step, and the thread's next one comes when its local time has passed.
//
// Before each access the thread says which kind it is, and this class decides which of the three applies. Under random
// schedules each access to something shared is a step of its own. Under the timed schedule one step contains as many
// accesses as have the same effect at its instant as at their own (Access, below). No other class distinguishes timed
// from untimed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/time.hpp"

namespace loco::hosts {

class Fibers;

/// The kind of the thread's next access.
enum class Access : std::uint8_t {
  /// It only looks (loads, flags, polls that find nothing). The looks of a turn are made at its beginning and paid for
  /// at its end, as a polling loop of the hardware model does.
  look,
  /// It looks for a stable condition, one that stays true once it is. A loop that has just changed something usually
  /// peeks at flags and its completion queue and finds nothing: these looks are made in the step of the change. If they
  /// lead to a pause, the thread wakes as if they had been made when they were due.
  early_look,
  /// It polls a completion queue that is not empty. It takes one entry, at the end of the poll, so that what follows
  /// needs no step of its own.
  poll,
  /// It changes something, at its own instant.
  change,
  /// A store or a work request, which nobody else sees before it leaves the store buffer. It is made ahead of the
  /// clock, and the store buffer keeps it until it is due.
  buffered_change,
};

class LocalTime {
 public:
  explicit LocalTime(Fibers& threads) : threads_(threads) {}

  /// From the machine's present step to the thread's local time.
  [[nodiscard]] sim::Duration offset() const { return ahead_ + owed_; }
  /// From the machine's present step to the thread's latest access.
  [[nodiscard]] sim::Duration ahead() const { return ahead_; }

  void advance(sim::Duration cost) { owed_ += cost; }
  void defer();
  void synchronise();

  /// Prepares an access of the calling thread: its step may end, so that accesses of others come first.
  void before(Access access);
  /// How many of `most` completions a poll after Access::poll may take.
  [[nodiscard]] std::size_t poll_limit(std::size_t most) const;
  /// A poll after Access::poll or Access::early_look has taken `taken` completions.
  void after_poll(std::size_t taken);
  /// The same for a poll after Access::look, which takes everything there is and pays afterwards.
  void after_whole_poll(std::size_t taken);
  /// Local computation. Where times mean nothing it takes at most 1 ms, because a wait in proportion to a measured time
  /// would grow each time. Throws std::out_of_range for a negative time, or one that ends beyond the range of the
  /// clock.
  void compute(std::int64_t ps);
  /// True if a change that nobody looks at before the thread's next access may be made together with its latest one.
  [[nodiscard]] bool may_join_latest_access() const;

  /// Implements Transport::pause(); `wake` is a further key that the thread watches.
  void pause(std::uint64_t wake);
  /// Wait until the thread's store buffer is empty, or has room for one more entry.
  void drain();
  void make_room();
  /// Waits until somebody notifies a key that the thread watches. Its earlier watch set is lost, so its next pause
  /// returns at once.
  void wait_for_notice();

  /// The thread's next step begins. Called by the driver.
  void begin_step();

 private:
  void look();
  void early_look();
  void poll();
  void change();
  void buffered_change();
  /// Ends the step and waits for the instant up to which the thread has looked ahead; the owed time remains.
  void catch_up();

  Fibers& threads_;
  sim::Duration ahead_;      // from this step to the instant of the latest access or turn of looks
  sim::Duration owed_;       // unspent cost of that access, or of those looks
  sim::Duration polling_;    // cost of this step's poll, spent before the step
  std::uint32_t looks_ = 0;  // number of looks since that instant
  bool acted_ = false;       // the latest access is not a look
  bool polled_ = false;      // it has looked at the completion queue since its last pause
  bool must_turn_ = false;   // the watch set is lost, so the next pause returns at once
};

}  // namespace loco::hosts
