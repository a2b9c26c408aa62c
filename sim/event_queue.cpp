#include "sim/event_queue.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace loco::sim {

[[gnu::noinline]] std::uint32_t EventQueue::new_slot() {
  LOCO_INVARIANT(slots_.size() + 1 < (1U << kSlotBits), last_popped_, "event queue", "more than 2^28 pending events");
  slots_.emplace_back();
  if (heap_.empty()) heap_.resize(kRoot);
  return static_cast<std::uint32_t>(slots_.size() - 1);
}

/// Inserts an event whose slot and order are already written. Inline, because what push() has just written is still in
/// registers.
[[gnu::always_inline]] inline EventHandle EventQueue::insert(std::uint32_t slot) {
  const EventSlot& s = slots_[slot];
  const EventHandle handle{slot, s.generation};
  ++size_;
  if (calendar_.running()) {
    calendar_.push(slots_.data(), slot);
  } else if (!line_.running()) {
    push_to_heap(s.key());
  } else if (!line_.full()) {
    line_.push(s.key());
  } else {
    start_calendar();
    calendar_.push(slots_.data(), slot);
  }
  return handle;
}

EventHandle EventQueue::push(SimTime at, std::uint16_t what, std::uint8_t priority, std::uint32_t where,
                             std::uint64_t a, std::uint64_t b) {
  LOCO_INVARIANT(at >= last_popped_, last_popped_, "event queue", "an event in the past was pushed");
  if (sequence_ == kSequenceEnd) [[unlikely]] {
    restart_sequence();
  }
  const std::uint32_t slot = take_slot();
  EventSlot& s = slots_[slot];
  s.event = {.at = at, .what = what, .priority = priority, .where = where, .a = a, .b = b};
  s.order = static_cast<std::uint64_t>(priority) << 56U | static_cast<std::uint64_t>(sequence_++) << kSlotBits | slot;
  return insert(slot);
}

EventHandle EventQueue::push_ranked(const Event& event, std::uint32_t rank) {
  LOCO_INVARIANT(event.at >= last_popped_, last_popped_, "event queue", "an event in the past was pushed");
  LOCO_INVARIANT(rank < kSequenceEnd && event.priority >= kRanked, last_popped_, "event queue", "a rank has 28 bits");
  const std::uint32_t slot = take_slot();
  slots_[slot].event = event;
  slots_[slot].order =
      static_cast<std::uint64_t>(event.priority) << 56U | static_cast<std::uint64_t>(rank) << kSlotBits | slot;
  return insert(slot);
}

[[gnu::noinline]] void EventQueue::push_to_heap(Key key) {
  if (hole_) {
    hole_ = false;
    sift_down(kRoot, key);
  } else {
    heap_.push_back(key);
    sift_up(heap_.size() - 1, key);
  }
}

bool EventQueue::pending(EventHandle handle) const {
  return handle.slot < slots_.size() && slots_[handle.slot].generation == handle.generation &&
         slots_[handle.slot].order != EventSlot::kFree;
}

bool EventQueue::cancel(EventHandle handle) {
  if (!pending(handle)) return false;
  // Stale keys stay within twice the number of pending events, at constant cost per cancellation.
  if (calendar_.running()) {
    calendar_.cancel(slots_.data(), handle.slot);
    release(handle.slot);
    if (calendar_.stale() > size_ + 64) calendar_.compact(slots_.data());
  } else if (line_.running()) {
    line_.cancel(slots_[handle.slot].key());
    release(handle.slot);
  } else {
    release(handle.slot);
    if (++cancelled_ > size_ + 64) gather();
  }
  return true;
}

const Event& EventQueue::earliest() const {
  if (calendar_.running()) return slots_[calendar_.earliest(slots_.data())].event;
  if (line_.running()) return slots_[slot_of(line_.earliest())].event;
  settle();
  return slots_[slot_of(heap_[kRoot])].event;
}

Event EventQueue::pop_earliest() {
  if (!calendar_.running() && !line_.running()) [[unlikely]] {
    if (indexed_) return pop_from_heap();
    start_line();
  }
  const std::uint32_t slot = line_.running() ? slot_of(line_.take()) : calendar_.take(slots_.data());
  last_popped_ = slots_[slot].event.at;
  return release(slot);
}

[[gnu::noinline]] Event EventQueue::pop_from_heap() {
  settle();
  const std::uint32_t slot = slot_of(heap_[kRoot]);
  hole_ = true;
  last_popped_ = slots_[slot].event.at;
  return release(slot);
}

const Event& EventQueue::pending(std::size_t i) const {
  index_all();
  return slots_[slot_of(heap_[kRoot + i])].event;
}

Event EventQueue::pop(std::size_t i) {
  index_all();
  const std::uint32_t slot = slot_of(heap_[kRoot + i]);
  remove_key(kRoot + i);
  return release(slot);
}

// The root has been taken, or may be the key of a cancelled event.
void EventQueue::settle_root() const {
  if (hole_) fill_hole();
  while (cancelled_ != 0 && !live(heap_[kRoot])) {
    --cancelled_;
    remove_key(kRoot);
  }
}

void EventQueue::fill_hole() const {
  hole_ = false;
  remove_key(kRoot);
}

/// Or, with more than a few events, the calendar.
void EventQueue::start_line() const {
  gather();
  if (heap_.size() > kRoot + EventLine::kMax) return start_calendar();
  line_.start(heap_.data() + kRoot, heap_.data() + heap_.size());
  heap_.resize(kRoot);
}

void EventQueue::start_calendar() const {
  gather();
  calendar_.start(slots_.data(), heap_.data() + kRoot, heap_.data() + heap_.size());
  heap_.resize(kRoot);
}

// Brings all keys into the heap, except those of cancelled events.
void EventQueue::gather() const {
  if (hole_) fill_hole();
  if (heap_.empty()) heap_.resize(kRoot);
  if (calendar_.running()) calendar_.pour_all(slots_.data(), heap_);
  if (line_.running()) line_.end(heap_);
  const auto gone = [this](Key key) { return !live(key); };
  heap_.erase(std::remove_if(heap_.begin() + kRoot, heap_.end(), gone), heap_.end());
  cancelled_ = 0;
  heapify();
}

// From now on every pending event is one element of the heap, because this queue is used with indices.
void EventQueue::index_all() const {
  if (cancelled_ != 0 || !indexed_) gather();
  if (hole_) fill_hole();
  indexed_ = true;
}

// From the parent of the last key back to the root (Floyd, "Algorithm 245: Treesort 3", CACM 1964).
void EventQueue::heapify() const {
  if (heap_.size() <= kRoot + 1) return;
  for (std::size_t i = (heap_.size() - 1) / 4 + 2; i >= kRoot; --i) sift_down(i, heap_[i]);
}

// The sequence numbers are used up: renumbers the pending events in their order. Ranks do not change.
void EventQueue::restart_sequence() {
  gather();
  std::sort(heap_.begin() + kRoot, heap_.end());  // a sorted array is a heap
  sequence_ = 0;
  constexpr Key kSequenceMask = static_cast<Key>(kSequenceEnd - 1) << kSlotBits;
  for (std::size_t i = kRoot; i < heap_.size(); ++i) {
    if (slots_[slot_of(heap_[i])].event.priority >= kRanked) continue;
    heap_[i] = (heap_[i] & ~kSequenceMask) | static_cast<Key>(sequence_++) << kSlotBits;
    slots_[slot_of(heap_[i])].order = static_cast<std::uint64_t>(heap_[i]);
  }
}

void EventQueue::remove_key(std::size_t i) const {
  const Key last = heap_.back();
  heap_.pop_back();
  if (i == heap_.size()) return;
  if (i > kRoot && last < heap_[i / 4 + 2]) {
    sift_up(i, last);
  } else {
    sift_down(i, last);
  }
}

void EventQueue::sift_up(std::size_t i, Key key) const {
  Key* const heap = heap_.data();
  while (i > kRoot) {
    const std::size_t parent = i / 4 + 2;
    if (heap[parent] < key) break;
    heap[i] = heap[parent];
    i = parent;
  }
  heap[i] = key;
}

void EventQueue::sift_down(std::size_t i, Key key) const {
  Key* const heap = heap_.data();
  const std::size_t size = heap_.size();
  for (;;) {
    std::size_t child = 4 * i - 8;
    if (child + 4 <= size) {
      // Two independent comparisons, then one, so there is no branch to mispredict.
      const std::size_t left = child + (heap[child + 1] < heap[child] ? 1 : 0);
      const std::size_t right = child + 2 + (heap[child + 3] < heap[child + 2] ? 1 : 0);
      child = heap[right] < heap[left] ? right : left;
    } else {
      if (child >= size) break;
      for (std::size_t c = child + 1; c < size; ++c) {
        if (heap[c] < heap[child]) child = c;
      }
    }
    if (key < heap[child]) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = key;
}

}  // namespace loco::sim
