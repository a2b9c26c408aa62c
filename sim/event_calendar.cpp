#include "sim/event_calendar.hpp"

#include <algorithm>

namespace loco::sim {

void EventCalendar::start(EventSlot* slots, const EventKey* begin, const EventKey* end) {
  running_ = true;
  tails_.resize(kBuckets);
  wheel_.start(time_of(*std::min_element(begin, end)));
  for (const EventKey* key = begin; key != end; ++key) wheel_.push(*key);
  pour(slots);
}

void EventCalendar::cancel(EventSlot* slots, std::uint32_t slot) {
  const std::uint64_t time = slots[slot].time();
  if (time > last_) {
    ++stale_;
    return;
  }
  const std::size_t bucket = bucket_of(time);
  std::uint32_t& tail = tails_[bucket];
  --near_;
  if (slots[slot].next == slot) {
    unmark(bucket);
    return;
  }
  std::uint32_t before = tail;
  while (slots[before].next != slot) {
    before = slots[before].next;
    ++walked_;
  }
  slots[before].next = slots[slot].next;
  if (tail == slot) tail = before;
}

void EventCalendar::compact(const EventSlot* slots) {
  poured_.clear();
  wheel_.pour_all(poured_);
  wheel_.start(first_);
  for (const EventKey key : poured_) {
    if (slots[slot_of(key)].holds(key)) wheel_.push(key);
  }
  stale_ = 0;
}

// Inserts an event that is due before the last one of its bucket.
void EventCalendar::insert_before(EventSlot* slots, std::uint32_t tail, std::uint32_t slot) {
  const EventKey key = slots[slot].key();
  std::uint32_t before = tail;
  while (slots[slots[before].next].key() < key) {
    before = slots[before].next;
    ++walked_;
  }
  slots[slot].next = slots[before].next;
  slots[before].next = slot;
}

// The lists have become long: moves near events to the wheel, from which they return with a finer window.
void EventCalendar::cut(EventSlot* slots) {
  walked_ = 0;
  if (level_ == kFinest || slots[slots[tails_[first_bucket()]].next].time() < first_) return;
  --level_;
  for_each_near(slots, [this](const EventSlot& slot) { wheel_.push(slot.key()); });
  occupied_ = {};
  occupied_words_ = 0;
  near_ = 0;
  pour(slots);
}

// Precondition: the wheel holds an event that is pending.
void EventCalendar::refill(EventSlot* slots) {
  if (taken_ < kSparse && level_ < kCoarsest) ++level_;
  do {
    pour(slots);
  } while (near_ == 0);
}

// Takes the next window of the wheel's events.
void EventCalendar::pour(EventSlot* slots) {
  taken_ = 0;
  walked_ = 0;
  batch_ = true;
  while (true) {
    poured_.clear();
    first_ = wheel_.pour(level_, poured_);
    if (poured_.size() <= kCrowd || level_ == kFinest) break;
    --level_;
    for (const EventKey key : poured_) wheel_.push(key);
  }
  last_ = first_ | EventWheel::below(level_);
  shift_ = (level_ - kFinest) * EventWheel::kDigitBits;
  // They may be anywhere in memory.
  for (const EventKey key : poured_) __builtin_prefetch(&slots[slot_of(key)]);
  for (const EventKey key : poured_) {
    if (slots[slot_of(key)].holds(key)) {
      insert(slots, slot_of(key));
    } else {
      --stale_;
    }
  }
}

}  // namespace loco::sim
