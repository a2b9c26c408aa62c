// What a run may take of the machine that it runs on: memory and wall-clock time, from its set-up to the end of its
// checks. (How many events it may take is part of the simulation: ClusterConfig::events_max.)
//
// Memory is what the process has taken since the run began, looked at every few milliseconds: runs side by side in one
// process count each other's. Whether a limit is reached depends on the machine; what a run computes does not.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace loco::hosts {

/// A run was ended by a limit.
class LimitReached : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Limits {
 public:
  using Clock = std::chrono::steady_clock;

  /// Bytes; 0: half of what the machine has free now. Wall-clock time; 0: as long as it takes.
  Limits(std::uint64_t memory, Clock::duration wall_time);

  /// Throws LimitReached when a limit has been passed. Cheap: looks every few milliseconds only.
  void check();
  /// Throws LimitReached when what is known to be needed does not fit. `advice` says what would take less; may be
  /// empty.
  void require(std::uint64_t bytes, const std::string& advice) const;

 private:
  /// `2.0 GiB of memory (limits.memory)`.
  [[nodiscard]] std::string memory_text() const;

  bool memory_given_;
  std::uint64_t memory_;
  Clock::duration wall_time_;
  std::uint64_t used_before_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_look_ = began_;
};

/// `1.5 GiB`: bytes for people.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace loco::hosts
