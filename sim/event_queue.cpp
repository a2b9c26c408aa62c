#include "sim/event_queue.hpp"

#include <utility>

namespace loco::sim {

EventHandle EventQueue::push(const Event& event) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].event = event;
  const std::uint64_t order = (static_cast<std::uint64_t>(event.priority) << 56U) | sequence_++;
  heap_.push_back({event.at.ps, order, slot});
  slots_[slot].heap_index = static_cast<std::uint32_t>(heap_.size() - 1);
  sift_up(heap_.size() - 1);
  return {slot, slots_[slot].generation};
}

bool EventQueue::cancel(EventHandle handle) {
  if (handle.slot >= slots_.size() || slots_[handle.slot].generation != handle.generation) return false;
  remove_at(slots_[handle.slot].heap_index);
  return true;
}

const Event& EventQueue::earliest() const { return slots_[heap_.front().slot].event; }

Event EventQueue::pop_earliest() { return remove_at(0); }

const Event& EventQueue::pending(std::size_t i) const { return slots_[heap_[i].slot].event; }

Event EventQueue::pop(std::size_t i) { return remove_at(i); }

Event EventQueue::remove_at(std::size_t i) {
  const std::uint32_t slot = heap_[i].slot;
  const Event event = slots_[slot].event;
  ++slots_[slot].generation;
  free_.push_back(slot);
  const Key last = heap_.back();
  heap_.pop_back();
  if (i < heap_.size()) {
    heap_[i] = last;
    slots_[last.slot].heap_index = static_cast<std::uint32_t>(i);
    sift_up(i);
    sift_down(slots_[last.slot].heap_index);
  }
  return event;
}

void EventQueue::sift_up(std::size_t i) {
  const Key key = heap_[i];
  while (i > 0) {
    const std::size_t parent = (i - 1) / 2;
    if (!before(key, heap_[parent])) break;
    heap_[i] = heap_[parent];
    slots_[heap_[i].slot].heap_index = static_cast<std::uint32_t>(i);
    i = parent;
  }
  heap_[i] = key;
  slots_[key.slot].heap_index = static_cast<std::uint32_t>(i);
}

void EventQueue::sift_down(std::size_t i) {
  const Key key = heap_[i];
  for (;;) {
    std::size_t child = 2 * i + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], key)) break;
    heap_[i] = heap_[child];
    slots_[heap_[i].slot].heap_index = static_cast<std::uint32_t>(i);
    i = child;
  }
  heap_[i] = key;
  slots_[key.slot].heap_index = static_cast<std::uint32_t>(i);
}

}  // namespace loco::sim
