// What work may take of the machine that it runs on: wall-clock time, memory, and until somebody says that it is to
// end.
//
// Work asks now and then; to end it early, check() throws. Memory is what the process has taken since the budget began:
// runs side by side in one process count each other's. Whether a limit is reached depends on the machine; what is
// computed does not. (How many events a simulation may take is part of the simulation.)
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace loco::sim {

/// Work was ended by a limit of the machine that it ran on.
class LimitReached : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Somebody said that it should end: Ctrl-C, a stop flag.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Until when work may go on, by the clock on the wall: what is found before that depends on the machine.
class Deadline {
 public:
  /// `limit` from now; 0: never.
  explicit Deadline(std::chrono::milliseconds limit)
      : limited_(limit.count() != 0), at_(std::chrono::steady_clock::now() + limit) {}
  /// The same in seconds, up to 10^9 of them.
  [[nodiscard]] static Deadline after(double seconds);

  [[nodiscard]] bool over() const { return limited_ && std::chrono::steady_clock::now() >= at_; }
  /// What a part of the work may take, at least 1 ms; 0: as long as it wants.
  [[nodiscard]] std::chrono::milliseconds left() const;

 private:
  bool limited_;
  std::chrono::steady_clock::time_point at_;
};

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::uint64_t memory = 0;             ///< bytes; 0: half of what the machine has free when the budget begins
    Clock::duration wall_time{};          ///< 0: as long as it takes
    std::function<bool()> interrupted{};  ///< true: the work is to end; may be empty
  };

  explicit Budget(Limits limits);
  Budget() : Budget(Limits{}) {}

  /// Throws Interrupted, or LimitReached when a limit has been passed. Cheap: looks at the limits every few
  /// milliseconds only; whether it is interrupted, each time.
  void check();
  /// Whether the work has taken at most that many times what it may: for what has to be brought to an end once a limit
  /// has been reached. Looks each time.
  [[nodiscard]] bool within(double factor) const;
  /// Throws LimitReached when what is known to be needed does not fit. `advice` says what would take less; may be
  /// empty.
  void require(std::uint64_t bytes, const std::string& advice) const;

 private:
  /// `2.0 GiB of memory (limits.memory)`.
  [[nodiscard]] std::string memory_text() const;

  Limits limits_;
  bool memory_given_;
  std::uint64_t used_before_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_look_ = began_;
};

/// `1.5 GiB`: bytes for people.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace loco::sim
