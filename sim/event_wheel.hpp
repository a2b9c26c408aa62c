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

  [[nodiscard]] bool empty() const { return occupied_levels_ == 0; }

  /// Declares that no key before `time` will be added. Precondition: empty.
  void start(std::uint64_t time);

  /// Precondition: time_of(key) is not before the argument of start(), nor taken by pour_until() before.
  void push(EventKey key);

  /// No key is earlier. Precondition: not empty.
  [[nodiscard]] std::uint64_t begin() const {
    const unsigned level = lowest_level();
    const auto digit = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
    return (base_ & ~within(level)) | digit << (level * kDigitBits);
  }

  /// Takes the keys whose time without its lowest `shift` bits is less than `end`: appends them to `out`, unordered.
  template <typename Keys>
  void pour_until(std::uint64_t end, unsigned shift, Keys& out) {
    while (!empty() && begin() >> shift < end) {
      std::vector<EventKey>& bucket = enter_first();
      for (const EventKey key : bucket) {  // none returns to the bucket being read, which the levels below divide
        if (time_of(key) >> shift < end)
          out.push_back(key);
        else
          push(key);
      }
      clear(bucket);
    }
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
  /// A mask of the digits of this level and below.
  [[nodiscard]] static std::uint64_t within(unsigned level) {
    return ((1ULL << (level * kDigitBits)) - 1) << kDigitBits | (kDigits - 1);
  }
  std::vector<EventKey>& enter_first();
  static void clear(std::vector<EventKey>& bucket);

  std::vector<std::vector<EventKey>> buckets_;     // index level * 64 + digit; empty until the first start()
  std::array<std::uint64_t, kLevels> occupied_{};  // one bit per bucket
  std::uint32_t occupied_levels_ = 0;              // one bit per level
  std::uint64_t base_ = 0;
};

}  // namespace loco::sim
