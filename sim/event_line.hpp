// The pending events of a timed run while they are few: a sorted array of keys with the earliest one last. Taking that
// out is one step, and a new key moves past those that are due before it.
//
// For a dozen events this takes half the instructions of a heap and has hardly any mispredicted branches. A value; used
// only by EventQueue, which owns the slots of the events.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/event_slot.hpp"

namespace loco::sim {

class EventLine {
 public:
  static constexpr std::size_t kMax = 16;

  /// False before start() and after end(): there are no events here.
  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] bool full() const { return size_ == kMax; }

  /// Takes over at most kMax events.
  void start(const EventKey* begin, const EventKey* end) {
    running_ = true;
    for (const EventKey* key = begin; key != end; ++key) push(*key);
  }
  /// Moves its events to `out`, the earliest last.
  template <typename Keys>
  void end(Keys& out) {
    out.insert(out.end(), keys_.data(), keys_.data() + size_);
    running_ = false;
    size_ = 0;
  }

  /// Precondition: not full.
  void push(EventKey key) {
    std::size_t place = size_++;
    for (; place != 0 && keys_[place - 1] < key; --place) keys_[place] = keys_[place - 1];
    keys_[place] = key;
  }
  /// Precondition of both: there is at least one event.
  [[nodiscard]] EventKey earliest() const { return keys_[size_ - 1]; }
  EventKey take() { return keys_[--size_]; }
  /// Removes an event that is here.
  void cancel(EventKey key) {
    EventKey* const end = keys_.data() + size_--;
    EventKey* const gone = std::find(keys_.data(), end, key);
    std::copy(gone + 1, end, gone);
  }

 private:
  std::array<EventKey, kMax> keys_;
  std::uint32_t size_ = 0;
  bool running_ = false;
};

}  // namespace loco::sim
