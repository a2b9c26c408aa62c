#include "hosts/limits.hpp"

#include <array>
#include <fmt/format.h>
#include <string_view>

#include "sim/host_memory.hpp"

namespace loco::hosts {

Limits::Limits(std::uint64_t memory, Clock::duration wall_time)
    : memory_given_(memory != 0),
      memory_(memory_given_ ? memory : sim::memory_share()),
      wall_time_(wall_time),
      used_before_(sim::used_memory()) {}

std::string Limits::memory_text() const {
  return fmt::format("{} of memory ({})", bytes_text(memory_),
                     memory_given_ ? "limits.memory" : "limits.memory: half of what was free");
}

void Limits::check() {
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return;
  constexpr std::chrono::milliseconds kLookEvery{10};
  next_look_ = now + kLookEvery;
  if (wall_time_ > Clock::duration::zero() && now - began_ > wall_time_) {
    const std::chrono::duration<double> seconds = wall_time_;
    throw LimitReached(fmt::format("the run has taken {} s (limits.wall_time) and has not ended", seconds.count()));
  }
  const std::uint64_t used = sim::used_memory();
  if (used > used_before_ && used - used_before_ > memory_)
    throw LimitReached(fmt::format("the run has taken {} and has not ended", memory_text()));
}

void Limits::require(std::uint64_t bytes, const std::string& advice) const {
  if (bytes <= memory_) return;
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

}  // namespace loco::hosts
