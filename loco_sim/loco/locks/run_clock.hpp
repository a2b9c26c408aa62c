// The clock of a run, for timed calls in the style of std::timed_mutex: picoseconds since the run began
// (Transport::now_ps()), simulated time on simulated hardware. now() takes the transport because each has its own
// clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include "loco_sim/loco/transport.hpp"

namespace loco {

struct run_clock {
  using duration = std::chrono::duration<std::int64_t, std::pico>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<run_clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now(const Transport& transport) { return time_point(duration(transport.now_ps())); }
};

/// A duration in picoseconds, rounded up. Anything beyond the clock's range (106 days) becomes the greatest value.
template <class Rep, class Period>
[[nodiscard]] constexpr std::int64_t picoseconds(const std::chrono::duration<Rep, Period>& time) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  const auto about = std::chrono::duration<double, std::pico>(time).count();
  if (about >= static_cast<double>(kLongest)) return kLongest;
  if (about <= 0) return 0;
  return std::chrono::ceil<run_clock::duration>(time).count();
}

}  // namespace loco
