// Checks that a barrier is one: nobody leaves a round before everybody has entered it. No memory model covers the
// barriers over messages. Kept outside the simulated machine, where it costs nothing; it uses no times, so it holds
// under every schedule.
#pragma once

#include <array>
#include <cstdint>

#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads {

class Attendance {
 public:
  explicit Attendance(std::uint64_t threads) : threads_(threads) {}

  /// A thread enters a round. Rounds count from 0, and each thread takes part in all of them.
  void come(std::uint64_t round) { ++come_[round % 2]; }
  /// For a thread that leaves a round. Until the first thread leaves early, nobody is two rounds ahead of another, so
  /// one count for even rounds and one for odd ones suffice to find it. Later results mean nothing.
  [[nodiscard]] bool all_came(std::uint64_t round) const { return come_[round % 2] >= (round / 2 + 1) * threads_; }

 private:
  std::uint64_t threads_;
  std::array<std::uint64_t, 2> come_{};  ///< entries to even and to odd rounds
};

/// A thread's round: it enters and waits. Breaks the promise "left_early" if it leaves before all have entered.
template <typename Wait>
void attend(Attendance& attendance, std::uint64_t round, Results& results, const Wait& wait) {
  attendance.come(round);
  wait();
  results.promise("left_early", attendance.all_came(round) ? 0 : 1);
}

}  // namespace loco::workloads
