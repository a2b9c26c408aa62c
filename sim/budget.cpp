#include "sim/budget.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "sim/host_memory.hpp"

namespace loco::sim {

Deadline Deadline::after(double seconds) {
  constexpr double kMost = 1e9;
  if (seconds <= 0) return Deadline(std::chrono::milliseconds(0));
  const auto count = static_cast<std::int64_t>(std::min(seconds, kMost) * 1000);
  return Deadline(std::chrono::milliseconds(std::max<std::int64_t>(count, 1)));
}

std::chrono::milliseconds Deadline::left() const {
  using std::chrono::milliseconds;
  if (!limited_) return milliseconds(0);
  const auto rest = std::chrono::duration_cast<milliseconds>(at_ - std::chrono::steady_clock::now());
  return std::max(rest, milliseconds(1));
}

Budget::Budget(Limits limits)
    : limits_(std::move(limits)), memory_given_(limits_.memory != 0), used_before_(used_memory()) {
  if (!memory_given_) limits_.memory = memory_share();
}

std::string Budget::memory_text() const {
  return fmt::format("{} of memory ({})", bytes_text(limits_.memory),
                     memory_given_ ? "limits.memory" : "limits.memory: half of what was free");
}

void Budget::check() {
  if (limits_.interrupted && limits_.interrupted()) throw Interrupted();
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return;
  constexpr std::chrono::milliseconds kLookEvery{10};
  next_look_ = now + kLookEvery;
  if (limits_.wall_time > Clock::duration::zero() && now - began_ > limits_.wall_time) {
    const std::chrono::duration<double> seconds = limits_.wall_time;
    throw LimitReached(fmt::format("the run has taken {} s (limits.wall_time) and has not ended", seconds.count()));
  }
  const std::uint64_t used = used_memory();
  if (used > used_before_ && used - used_before_ > limits_.memory)
    throw LimitReached(fmt::format("the run has taken {} and has not ended", memory_text()));
}

bool Budget::within(double factor) const {
  const std::chrono::duration<double> allowed = limits_.wall_time;
  const std::chrono::duration<double> taken = Clock::now() - began_;
  if (limits_.wall_time > Clock::duration::zero() && taken > allowed * factor) return false;
  const std::uint64_t used = used_memory();
  return used <= used_before_ || static_cast<double>(used - used_before_) <= static_cast<double>(limits_.memory) * factor;
}

void Budget::require(std::uint64_t bytes, const std::string& advice) const {
  if (bytes <= limits_.memory) return;
  throw LimitReached(fmt::format("the run would take {} or more, beyond {}{}{}", bytes_text(bytes), memory_text(),
                                 advice.empty() ? "" : "; ", advice));
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kStep = 1024;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= kStep && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits.at(unit));
}

}  // namespace loco::sim
