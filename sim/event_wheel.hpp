// The far future of an event queue: keys roughly sorted by time, in a hierarchical wheel (Varghese and Lauck, "Hashed
// and hierarchical timing wheels", SOSP 1987) with 64 buckets per level, each level for 6 bits of the time.
//
// A key is on the level of the highest digit in which its time differs from the wheel's base. So a bucket of level n is
// 64^n picoseconds wide, and every level holds later keys than the levels below it. A bucket is divided into finer ones
// only when it is about to be needed, so a key moves a few times in its life, each time between contiguous pieces of
// memory. A value; used only by EventCalendar, which sorts what it gets.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/event_slot.hpp"

namespace loco::sim {

class EventWheel {
 public:
  static constexpr unsigned kDigitBits = 6;

  /// A mask of the digits below this level.
  [[nodiscard]] static std::uint64_t below(unsigned level) { return (1ULL << (level * kDigitBits)) - 1; }

  [[nodiscard]] bool empty() const { return occupied_levels_ == 0; }

  /// Declares that no key before `time` will be added. Precondition: empty.
  void start(std::uint64_t time);

  /// Precondition: time_of(key) is not before the argument of start() or the latest result of pour().
  void push(EventKey key);

  /// Takes the earliest aligned span of 64^level picoseconds that has keys: appends them to `out`, unordered, and
  /// returns the beginning of the span. Precondition: not empty.
  template <typename Keys>
  std::uint64_t pour(unsigned level, Keys& out) {
    while (lowest_level() > level) cut();
    if (lowest_level() == level) {
      take(out);
    } else {
      while (lowest_level() < level) take(out);
      base_ &= ~below(level);
    }
    return base_;
  }

  /// Takes all keys, unordered.
  template <typename Keys>
  void pour_all(Keys& out) {
    while (!empty()) take(out);
  }

 private:
  static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  static constexpr unsigned kLevels = (64 + kDigitBits - 1) / kDigitBits;
  static constexpr std::size_t kKeptCapacity = 1024;

  [[nodiscard]] unsigned lowest_level() const {
    return empty() ? kLevels : static_cast<unsigned>(std::countr_zero(occupied_levels_));
  }
  template <typename Keys>
  void take(Keys& out) {
    std::vector<EventKey>& bucket = enter_first();
    out.insert(out.end(), bucket.begin(), bucket.end());
    clear(bucket);
  }
  void cut();
  std::vector<EventKey>& enter_first();
  static void clear(std::vector<EventKey>& bucket);

  std::vector<std::vector<EventKey>> buckets_;     // index level * 64 + digit; empty until the first start()
  std::array<std::uint64_t, kLevels> occupied_{};  // one bit per bucket
  std::uint32_t occupied_levels_ = 0;              // one bit per level
  std::uint64_t base_ = 0;
};

}  // namespace loco::sim
