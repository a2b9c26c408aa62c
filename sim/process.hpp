// Processes: fibers that live in simulated time. They sleep, wait on conditions, and wake at the exact instant.
//
// A process runs inside Processes::handle(), when the run loop gives it its wake event; all that happens until it
// blocks again happens at one instant. Ownership: Processes owns the fibers, the caller owns queue and clock.
// Determinism: processes wake in the order of their wake events, waiters of a condition in the order they came.
// Exceptions: what leaves a process's body comes out of handle().
// Processes are not copyable state: a system that is explored by copying interprets its threads instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/fiber.hpp"
#include "sim/pick.hpp"
#include "sim/time.hpp"

namespace loco::sim {

/// Event kind of a wake-up. Models keep their kinds below.
inline constexpr std::uint16_t kProcessWake = 0xffff;

using ProcessId = FiberId;

class Condition;

class Processes {
 public:
  /// `queue` and `now` outlive this; whoever owns `now` sets it before handle().
  Processes(EventQueue& queue, const SimTime& now, FiberPool::Options options = {});
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// A new process that starts at the present instant, after the events already pending then.
  ProcessId spawn(std::string name, std::function<void()> body);

  /// Runs the process that a kProcessWake event names until it blocks or ends.
  void handle(const Event& event);

  // From inside a process:
  void sleep(Duration d) { sleep_until(now_ + d); }
  /// Returns at `t`; at once, but after the events pending at this instant, when `t` is not in the future.
  void sleep_until(SimTime t);
  /// Blocks until notified. There are no spurious wake-ups, yet others may run between notification and return.
  void wait(Condition& condition);
  /// As wait(), but gives up at `deadline`: false.
  bool wait_until(Condition& condition, SimTime deadline);
  /// Blocks until another party calls wake() with this process's id.
  void block();

  [[nodiscard]] ProcessId current() const { return pool_.current(); }
  [[nodiscard]] bool inside() const { return pool_.inside(); }
  /// Wakes a process blocked in block(), at the present instant. At most once a block().
  void wake(ProcessId id);

  [[nodiscard]] SimTime now() const { return now_; }
  [[nodiscard]] bool finished(ProcessId id) const { return pool_.finished(id); }
  [[nodiscard]] std::size_t unfinished() const { return pool_.unfinished(); }
  /// Names of the unfinished processes, in slot order: who is stuck when no event is left.
  [[nodiscard]] std::vector<std::string> unfinished_names() const;

 private:
  friend class Condition;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Process {
    std::string name;
    FiberId id;
    Condition* waits_on = nullptr;  // and its neighbours in that condition's list:
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    EventHandle timer{};  // pending while it waits with a deadline
    bool notified = false;
  };
  EventHandle push_wake(ProcessId id, SimTime at);

  EventQueue& queue_;
  const SimTime& now_;
  std::vector<Process> processes_;  // by fiber slot
  FiberPool pool_;                  // last: its destructor unwinds the processes, which still use the rest
};

/// What processes wait on: a queue, first come first served. Outlives its waiters or lets go of them.
class Condition {
 public:
  explicit Condition(Processes& processes) : processes_(processes) {}
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Wakes the longest waiting process, at the present instant. From anywhere; false when none waits.
  bool notify_one();
  /// Wakes all that wait now, in order.
  void notify_all();
  [[nodiscard]] bool empty() const { return first_ == Processes::kNone; }

 private:
  friend class Processes;
  void append(std::uint32_t slot);
  void remove(std::uint32_t slot);

  Processes& processes_;
  std::uint32_t first_ = Processes::kNone;
  std::uint32_t last_ = Processes::kNone;
};

/// The smallest run loop: a queue, a clock, processes and a rule. For tests and for users of the engine alone.
class Simulation {
 public:
  using Handler = std::function<void(const Event&)>;

  explicit Simulation(Pick pick = {}, FiberPool::Options options = {})
      : pick_(std::move(pick)), processes_(queue_, now_, options) {}

  /// Receives the events that are not wake-ups.
  void on_event(Handler handler) { handler_ = std::move(handler); }

  /// Runs until no event is pending. Processes that are then unfinished wait for something that cannot come.
  void run();
  /// Runs the events up to and including `until`, then sets the clock to it.
  void run_until(SimTime until);
  /// Runs one event. Precondition: one is pending.
  void step();

  [[nodiscard]] SimTime now() const { return now_; }
  [[nodiscard]] EventQueue& queue() { return queue_; }
  [[nodiscard]] Processes& processes() { return processes_; }

 private:
  EventQueue queue_;
  SimTime now_;
  Pick pick_;
  Handler handler_;
  Processes processes_;
};

}  // namespace loco::sim
