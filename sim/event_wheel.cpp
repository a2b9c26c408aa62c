#include "sim/event_wheel.hpp"

#include <bit>
#include <utility>

namespace loco::sim {

std::uint64_t EventWheel::start(std::uint64_t time) {
  buckets_.resize(kLevels * kDigits);
  // Inside the bucket poured last, the levels below it are empty and the digits above agree: any base will do there.
  if (empty() || time > base_) base_ = time;
  return base_;
}

void EventWheel::push(EventKey key) {
  const std::uint64_t time = time_of(key);
  const auto level = static_cast<std::size_t>(std::bit_width((time ^ base_) | 1U) - 1) / kDigitBits;
  const std::size_t digit = (time >> (level * kDigitBits)) % kDigits;
  buckets_[level * kDigits + digit].push_back(key);
  occupied_[level] |= 1ULL << digit;
  occupied_levels_ |= 1U << level;
}

// The bucket with the earliest keys, cut down to size, already unmarked.
std::vector<EventKey>& EventWheel::next_bucket() {
  for (;;) {
    const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
    occupied_[level] &= occupied_[level] - 1;
    if (occupied_[level] == 0) occupied_levels_ &= ~(1U << level);
    const unsigned shift = level * kDigitBits;
    const std::uint64_t below = (1ULL << shift) - 1;                   // the digits below this level
    const std::uint64_t within = below << kDigitBits | (kDigits - 1);  // and this level's
    base_ = (base_ & ~within) | static_cast<std::uint64_t>(digit) << shift;
    last_ = base_ | below;
    std::vector<EventKey>& bucket = buckets_[level * kDigits + digit];
    if (level == 0 || bucket.size() <= kPour) return bucket;
    // All of it goes to lower levels, whose buckets are empty: never back to where it is read from.
    for (const EventKey key : bucket) push(key);
    clear(bucket);
  }
}

// Keeps what small buckets have allocated; a big one would keep its peak for ever, once for each digit.
void EventWheel::clear(std::vector<EventKey>& bucket) {
  if (bucket.capacity() > kKeptCapacity) {
    std::vector<EventKey>().swap(bucket);
  } else {
    bucket.clear();
  }
}

}  // namespace loco::sim
