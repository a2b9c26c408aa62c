// The far future of an event queue: keys sorted roughly by time, in a hierarchical wheel (Varghese and Lauck, "Hashed
// and hierarchical timing wheels", SOSP 1987) of 64 buckets a level, 6 bits of the time each.
//
// A key lies on the level of the highest digit in which its time differs from the wheel's base, so that a bucket of
// level n is 64^n picoseconds wide and every level holds later keys than the levels below it. Buckets are cut into
// finer ones only when they are about to be needed: a key moves a few times in its life, each time from a run of memory
// to a run of memory. A value; used by EventCalendar alone, which orders what it is handed.
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

  /// The digits below this level, all ones.
  [[nodiscard]] static std::uint64_t below(unsigned level) { return (1ULL << (level * kDigitBits)) - 1; }

  [[nodiscard]] bool empty() const { return occupied_levels_ == 0; }

  /// Announces that no key before `time` will be added. Precondition: empty.
  void start(std::uint64_t time);

  /// Precondition: time_of(key) is not before what start() was told, or pour() returned since.
  void push(EventKey key);

  /// Hands out all keys of the earliest span of 64^level picoseconds, aligned, that has any, in no order: appends them
  /// to `out` and returns where the span begins. Precondition: not empty.
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

  /// Hands out all keys, in no order.
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

  std::vector<std::vector<EventKey>> buckets_;     // level * 64 + digit; none until the first start()
  std::array<std::uint64_t, kLevels> occupied_{};  // one bit a bucket
  std::uint32_t occupied_levels_ = 0;              // one bit a level
  std::uint64_t base_ = 0;
};

}  // namespace loco::sim
