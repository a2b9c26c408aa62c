#include "sim/event_wheel.hpp"

#include <bit>

namespace loco::sim {

void EventWheel::start(std::uint64_t time) {
  buckets_.resize(kLevels * kDigits);
  base_ = time;
}

void EventWheel::push(EventKey key) {
  const std::uint64_t time = time_of(key);
  const auto level = static_cast<std::size_t>(std::bit_width((time ^ base_) | 1U) - 1) / kDigitBits;
  const std::size_t digit = (time >> (level * kDigitBits)) % kDigits;
  buckets_[level * kDigits + digit].push_back(key);
  occupied_[level] |= 1ULL << digit;
  occupied_levels_ |= 1U << level;
}

// The bucket with the earliest keys, already unmarked; moves the base to its beginning.
std::vector<EventKey>& EventWheel::enter_first() {
  const unsigned level = lowest_level();
  const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
  occupied_[level] &= occupied_[level] - 1;
  if (occupied_[level] == 0) occupied_levels_ &= ~(1U << level);
  base_ = (base_ & ~within(level)) | static_cast<std::uint64_t>(digit) << (level * kDigitBits);
  return buckets_[level * kDigits + digit];
}

// Keeps the storage of small buckets. A big one would keep its peak size forever, once for each digit.
void EventWheel::clear(std::vector<EventKey>& bucket) {
  if (bucket.capacity() > kKeptCapacity) {
    std::vector<EventKey>().swap(bucket);
  } else {
    bucket.clear();
  }
}

}  // namespace loco::sim
