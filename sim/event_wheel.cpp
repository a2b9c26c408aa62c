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

// Moves the keys of the earliest bucket to lower levels. Precondition: the bucket is not on the lowest level.
void EventWheel::cut() {
  std::vector<EventKey>& bucket = enter_first();
  // The levels below are empty, and no key returns to the bucket being read.
  for (const EventKey key : bucket) push(key);
  clear(bucket);
}

// The bucket with the earliest keys, already unmarked; moves the base to its beginning.
std::vector<EventKey>& EventWheel::enter_first() {
  const unsigned level = lowest_level();
  const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
  occupied_[level] &= occupied_[level] - 1;
  if (occupied_[level] == 0) occupied_levels_ &= ~(1U << level);
  const unsigned shift = level * kDigitBits;
  const std::uint64_t within = below(level) << kDigitBits | (kDigits - 1);  // the digits of this level and below
  base_ = (base_ & ~within) | static_cast<std::uint64_t>(digit) << shift;
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
