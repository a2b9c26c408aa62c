// The pending events of a simulation: small typed records ordered by (time, priority, sequence).
//
// A queue is a value: copying it copies the future of the simulation. It never runs anything itself: a run
// loop takes an event out (the earliest one, or any pending one) and gives it to the model that owns its kind.
// Determinism: equal times are ordered by priority (lower first), then by order of insertion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace loco::sim {

/// What happens, where, and two words for the model that handles it.
struct Event {
  SimTime at;
  std::uint16_t what = 0;      ///< event kind; each component owns a range, see the model's own header
  std::uint8_t priority = 0;   ///< among equal times, lower runs first
  std::uint32_t where = 0;     ///< index of the component or slot it concerns
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  bool operator==(const Event&) const = default;
};

/// Names a pending event; stays safe after the event has run (the generation no longer fits).
struct EventHandle {
  std::uint32_t slot = 0xffffffffU;
  std::uint32_t generation = 0;

  bool operator==(const EventHandle&) const = default;
};

class EventQueue {
 public:
  /// Adds an event. `event.at` may not lie before the last earliest-first pop.
  EventHandle push(const Event& event);

  /// Removes a pending event; false when it has already run or was cancelled.
  bool cancel(EventHandle handle);

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  /// The next event in (time, priority, sequence) order. Precondition: not empty.
  [[nodiscard]] const Event& earliest() const;

  /// Takes out the next event in (time, priority, sequence) order. Precondition: not empty.
  Event pop_earliest();

  /// The i-th pending event, 0 <= i < size(), in an order that is a function of the queue's history only.
  [[nodiscard]] const Event& pending(std::size_t i) const;

  /// Takes out the i-th pending event: the door for random and exhaustive scheduling.
  Event pop(std::size_t i);

 private:
  struct Key {
    std::int64_t time;
    std::uint64_t order;  // priority in the top 8 bits, insertion sequence below
    std::uint32_t slot;
  };
  struct Slot {
    Event event;
    std::uint32_t heap_index = 0;
    std::uint32_t generation = 0;
  };
  static bool before(const Key& l, const Key& r) {
    return l.time != r.time ? l.time < r.time : l.order < r.order;
  }
  void sift_up(std::size_t i);
  void sift_down(std::size_t i);
  Event remove_at(std::size_t i);

  std::vector<Key> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sequence_ = 0;
};

}  // namespace loco::sim
