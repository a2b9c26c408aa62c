#include "sim/event_queue.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace loco::sim {

std::uint32_t EventQueue::new_slot() {
  LOCO_INVARIANT(slots_.size() < kSlotMask, last_popped_, "event queue", "more than 2^28 pending events");
  slots_.emplace_back();
  if (heap_.empty()) heap_.resize(kRoot);
  return static_cast<std::uint32_t>(slots_.size() - 1);
}

EventHandle EventQueue::push(const Event& event) {
  LOCO_INVARIANT(event.at >= last_popped_, last_popped_, "event queue", "an event in the past was pushed");
  if (sequence_ == kSequenceEnd) restart_sequence();
  const std::uint32_t slot = take_slot();
  Slot& s = slots_[slot];
  s.event = event;
  s.order =
      static_cast<std::uint64_t>(event.priority) << 56U | static_cast<std::uint64_t>(sequence_++) << kSlotBits | slot;
  const Key key = static_cast<Key>(static_cast<std::uint64_t>(event.at.ps) ^ (1ULL << 63U)) << 64U | s.order;
  ++size_;
  if (EventWheel::time_of(key) > near_last_) {
    wheel_.push(key);
  } else if (hole_) {
    hole_ = false;
    sift_down(kRoot, key);
  } else {
    heap_.push_back(key);
    sift_up(heap_.size() - 1, key);
    if (heap_.size() - kRoot > split_at_ && !indexed_) split();
  }
  return {slot, s.generation};
}

bool EventQueue::pending(EventHandle handle) const {
  return handle.slot < slots_.size() && slots_[handle.slot].generation == handle.generation &&
         slots_[handle.slot].order != kFree;
}

bool EventQueue::cancel(EventHandle handle) {
  if (!pending(handle)) return false;
  release(handle.slot);
  ++cancelled_;
  // Keeps the heap within twice the pending events, at a constant cost a cancellation.
  if (cancelled_ > size_ + 64) gather();
  return true;
}

const Event& EventQueue::earliest() const {
  settle();
  return slots_[slot_of(heap_[kRoot])].event;
}

Event EventQueue::pop_earliest() {
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

// The root has gone, or may be that of a cancelled event.
void EventQueue::settle_root() const {
  if (hole_) fill_hole();
  if (heap_.size() == kRoot) refill();
  while (cancelled_ != 0 && !live(heap_[kRoot])) {
    --cancelled_;
    fill_hole();
    if (heap_.size() == kRoot) refill();
  }
}

void EventQueue::fill_hole() const {
  hole_ = false;
  remove_key(kRoot);
}

// The heap is empty: fetches the next keys of the wheel.
void EventQueue::refill() const {
  near_last_ = wheel_.pour(heap_);
  // They are about to be needed, one after the other, from anywhere in memory.
  for (std::size_t i = kRoot; i < heap_.size(); ++i) __builtin_prefetch(&slots_[slot_of(heap_[i])]);
  if (wheel_.empty()) near_last_ = kForever;
  batch_ = true;
  heapify();
  split_at_ = std::max(kSplit, 2 * (heap_.size() - kRoot));
}

// The heap has grown beyond what is fast: sends its keys to the wheel, except those too early for it.
void EventQueue::split() const {
  const std::uint64_t from = wheel_.start(EventWheel::time_of(heap_[kRoot]));
  std::size_t kept = kRoot;
  for (std::size_t i = kRoot; i < heap_.size(); ++i) {
    const Key key = heap_[i];
    if (EventWheel::time_of(key) < from) {
      heap_[kept++] = key;
    } else {
      wheel_.push(key);
    }
  }
  heap_.resize(kept);
  if (kept == kRoot) {
    refill();
    return;
  }
  near_last_ = from - 1;
  heapify();
  split_at_ = std::max(kSplit, 2 * (kept - kRoot));
}

// Brings all keys into the heap, except those of cancelled events.
void EventQueue::gather() const {
  if (hole_) fill_hole();
  wheel_.pour_all(heap_);
  near_last_ = kForever;
  std::size_t kept = kRoot;
  for (std::size_t i = kRoot; i < heap_.size(); ++i) {
    if (live(heap_[i])) heap_[kept++] = heap_[i];
  }
  heap_.resize(kept);
  cancelled_ = 0;
  heapify();
}

// Makes every pending event one element of the heap, from now on: picking by index is how this queue is used.
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

// The sequence has no more numbers: numbers the pending events again, in their order.
void EventQueue::restart_sequence() {
  gather();
  std::sort(heap_.begin() + kRoot, heap_.end());  // a sorted array is a heap
  sequence_ = 0;
  constexpr Key kSequenceMask = static_cast<Key>(kSequenceEnd - 1) << kSlotBits;
  for (std::size_t i = kRoot; i < heap_.size(); ++i) {
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
      // Two independent comparisons, then one: no branch to guess wrong.
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
