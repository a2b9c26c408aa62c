// The far future of an event queue: keys sorted roughly by time, in a hierarchical wheel (Varghese and Lauck, "Hashed
// and hierarchical timing wheels", SOSP 1987) of 64 buckets a level, 6 bits of the time each.
//
// A key lies on the level of the highest digit in which its time differs from the wheel's base, so that a bucket of
// level n is 64^n picoseconds wide and every level holds later keys than the levels below it. Buckets are cut into
// finer ones only when they are about to be needed and hold many keys: a key moves a few times in its life, each time
// from a run of memory to a run of memory. The queue orders the last few dozen keys itself.
// A value; used by EventQueue alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace loco::sim {

/// Orders events: time (64 bits, sign flipped), then 64 bits that EventQueue lays out.
__extension__ using EventKey = unsigned __int128;

class EventWheel {
 public:
  /// A bucket with at most this many keys is handed out whole.
  static constexpr std::size_t kPour = 64;

  [[nodiscard]] static std::uint64_t time_of(EventKey key) { return static_cast<std::uint64_t>(key >> 64U); }

  [[nodiscard]] bool empty() const { return occupied_levels_ == 0; }

  /// Announces that no key before `time` will be added, as far as the keys already here allow it; returns the time
  /// from which on keys may be added. Precondition: empty, or `time` is not after what pour() returned last.
  std::uint64_t start(std::uint64_t time);

  /// Precondition: time_of(key) is later than what pour() returned last, or not before what start() returned since.
  void push(EventKey key);

  /// Hands out the earliest keys, in no order: appends them to `out`. Returns the latest time that may be among them:
  /// all keys up to that time have been handed out. Precondition: not empty.
  template <typename Keys>
  std::uint64_t pour(Keys& out) {
    std::vector<EventKey>& bucket = next_bucket();
    out.insert(out.end(), bucket.begin(), bucket.end());
    clear(bucket);
    return last_;
  }

  /// Hands out all keys, in no order.
  template <typename Keys>
  void pour_all(Keys& out) {
    while (!empty()) pour(out);
  }

 private:
  static constexpr unsigned kDigitBits = 6;
  static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  static constexpr std::size_t kLevels = (64 + kDigitBits - 1) / kDigitBits;
  static constexpr std::size_t kKeptCapacity = 1024;

  std::vector<EventKey>& next_bucket();
  static void clear(std::vector<EventKey>& bucket);

  std::vector<std::vector<EventKey>> buckets_;     // level * 64 + digit; none until the first start()
  std::array<std::uint64_t, kLevels> occupied_{};  // one bit a bucket
  std::uint32_t occupied_levels_ = 0;              // one bit a level
  std::uint64_t base_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace loco::sim
