#include "sim/event_calendar.hpp"

#include <algorithm>

namespace loco::sim {

void EventCalendar::start(EventSlot* slots, const EventKey* begin, const EventKey* end) {
  running_ = true;
  tails_.resize(kBuckets);
  wheel_.start(time_of(*std::min_element(begin, end)));
  for (const EventKey* key = begin; key != end; ++key) wheel_.push(*key);
  refill(slots);
}

void EventCalendar::cancel(EventSlot* slots, std::uint32_t slot) {
  const std::uint64_t bucket = slots[slot].time() >> shift_;
  if (bucket >= end_) {
    ++stale_;
    return;
  }
  const std::size_t place = std::max(bucket, first_) % kBuckets;
  std::uint32_t& tail = tails_[place];
  --near_;
  if (slots[slot].next == slot) {
    unmark(place);
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
  wheel_.start(end_ << shift_);
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

// Nothing is near: turns the ring to the next event of the wheel. Precondition: the wheel holds an event that is
// pending.
void EventCalendar::refill(EventSlot* slots) {
  if (++jumps_ > kJumps) adapt(slots);
  while (near_ == 0) {
    first_ = std::max(first_, wheel_.begin() >> shift_);
    fill(slots);
  }
  batch_ = true;
}

// The events of the next word are due now: others take the places of those that are over.
void EventCalendar::turn(EventSlot* slots) {
  batch_ = true;
  if (taken_ > kWalking) adapt(slots);
  fill(slots);
}

// Takes the wheel's events that the ring has room for.
void EventCalendar::fill(EventSlot* slots) {
  end_ = first_ / kWord * kWord + kBuckets;
  poured_.clear();
  wheel_.pour_until(end_, shift_, poured_);
  // They may be anywhere in memory.
  for (const EventKey key : poured_) __builtin_prefetch(&slots[slot_of(key)]);
  for (const EventKey key : poured_) {
    if (slots[slot_of(key)].holds(key)) {
      insert(slots, slot_of(key), std::max(time_of(key) >> shift_, first_));
    } else {
      --stale_;
    }
  }
}

// Halves the width if lists have become long, or doubles it if the ring has been too short.
void EventCalendar::adapt(EventSlot* slots) {
  if (walked_ > taken_) {
    if (shift_ > kFinest) set_width(slots, shift_ - 1);
  } else if ((far_ > taken_ / 4 && walked_ < taken_ / 8) || jumps_ > taken_ / 16) {
    if (shift_ < kCoarsest) set_width(slots, shift_ + 1);
  }
  taken_ = walked_ = far_ = jumps_ = 0;
}

void EventCalendar::set_width(EventSlot* slots, unsigned shift) {
  const std::uint64_t now = first_ << shift_;
  std::vector<EventKey> all;
  for_each_near(slots, [&all](const EventSlot& slot) { all.push_back(slot.key()); });
  wheel_.pour_all(all);
  occupied_ = {};
  occupied_words_ = 0;
  near_ = 0;
  shift_ = shift;
  first_ = now >> shift_;
  end_ = first_ / kWord * kWord + kBuckets;
  wheel_.start(now);
  for (const EventKey key : all) {
    const std::uint64_t bucket = time_of(key) >> shift_;
    if (bucket >= end_) {
      wheel_.push(key);
    } else if (slots[slot_of(key)].holds(key)) {
      insert(slots, slot_of(key), std::max(bucket, first_));
    } else {
      --stale_;
    }
  }
}

}  // namespace loco::sim
