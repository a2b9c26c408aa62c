// Whether a barrier is one: nobody leaves a round before everybody has come to it. Of the barriers over messages no
// memory model says so. Kept beside the simulated machine, which it costs nothing; it knows no times, so that it holds
// under every schedule.
#pragma once

#include <array>
#include <cstdint>

#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads {

class Attendance {
 public:
  explicit Attendance(std::uint64_t threads) : threads_(threads) {}

  /// A thread begins a round; rounds count from 0, and each thread takes part in all of them.
  void come(std::uint64_t round) { ++come_[round % 2]; }
  /// For a thread that leaves a round. While none has left early, nobody is two rounds ahead of anybody: one count for
  /// even rounds and one for odd ones find the first who does. What is said after that one means nothing.
  [[nodiscard]] bool all_came(std::uint64_t round) const { return come_[round % 2] >= (round / 2 + 1) * threads_; }

 private:
  std::uint64_t threads_;
  std::array<std::uint64_t, 2> come_{};  ///< to even rounds, to odd ones
};

/// A thread's round: it comes and waits. Breaks the promise "left_early" when it gets out before all have come.
template <typename Wait>
void attend(Attendance& attendance, std::uint64_t round, Results& results, const Wait& wait) {
  attendance.come(round);
  wait();
  results.promise("left_early", attendance.all_came(round) ? 0 : 1);
}

}  // namespace loco::workloads
