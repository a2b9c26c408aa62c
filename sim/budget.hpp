// Limits on what work may take of the machine that it runs on: wall-clock time, memory, and interruption by the user.
//
// Work calls check() now and then, which throws to end the work early. Memory is what the process has taken since the
// budget began, so runs in the same process count each other's. Whether a limit is reached depends on the machine; what
// is computed does not. (A limit on events is part of the simulation.)
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace loco::sim {

/// A limit of the machine has ended the work.
class LimitReached : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The work was interrupted: Ctrl-C, a stop flag.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// A limit in real time. What is found before it depends on the machine.
class Deadline {
 public:
  /// `limit` from now; 0: never.
  explicit Deadline(std::chrono::milliseconds limit)
      : limited_(limit.count() != 0), at_(std::chrono::steady_clock::now() + limit) {}
  /// The same in seconds, up to 10^9 of them.
  [[nodiscard]] static Deadline after(double seconds);

  [[nodiscard]] bool over() const { return limited_ && std::chrono::steady_clock::now() >= at_; }
  /// Time left for a part of the work, at least 1 ms; 0: no limit.
  [[nodiscard]] std::chrono::milliseconds left() const;

 private:
  bool limited_;
  std::chrono::steady_clock::time_point at_;
};

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::uint64_t memory = 0;             ///< bytes; 0: half of the memory that is free when the budget begins
    Clock::duration wall_time{};          ///< 0: no limit
    std::function<bool()> interrupted{};  ///< returns true if the work is to end; may be empty
  };

  explicit Budget(Limits limits);
  Budget() : Budget(Limits{}) {}

  /// Throws Interrupted, or LimitReached if a limit has been passed. Cheap: checks the limits only every few
  /// milliseconds, but for an interruption each time.
  void check();
  /// True if the work has taken at most `factor` times its limit, for what must be completed after a limit was reached.
  /// Checks each time.
  [[nodiscard]] bool within(double factor) const;
  /// Throws LimitReached if memory that is known to be needed exceeds the limit. `advice` says what would need less;
  /// may be empty.
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

/// Readable bytes: `1.5 GiB`.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace loco::sim
