// The pending events of a simulation: small typed records ordered by (time, priority, sequence).
//
// A queue is a value: copying it copies the future of the simulation. It never runs anything itself: a run
// loop takes an event out (the earliest one, or any pending one) and gives it to the model that owns its kind.
// Determinism: equal times are ordered by priority (lower first), then by order of insertion, or by rank.
//
// Inside: events stay in their slots. Before the first is taken out, their keys are a 4-ary heap (Johnson, "Priority
// queues with update and finding minimum spanning trees", 1975), four children to a cache line, and so they are for
// good when events are picked by index. A cancelled event leaves its key there, to be dropped when it comes to the top
// or when such keys outnumber the pending events. Once the earliest is taken out, a few are in a line (event_line.hpp),
// and more than that in a calendar (event_calendar.hpp), where a step costs the same with a dozen or a million pending.
// Nothing is allocated per event in steady state. At most 2^28 events may be pending.
// Threads: none of its own; the const functions may tidy, so two threads may not share a queue even to read.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/event_calendar.hpp"
#include "sim/event_line.hpp"
#include "sim/event_slot.hpp"
#include "sim/time.hpp"

namespace loco::sim {

/// Identifies a pending event. It remains safe after the event has run, because the generation then differs.
struct EventHandle {
  std::uint32_t slot = 0xffffffffU;
  std::uint32_t generation = 0;

  bool operator==(const EventHandle&) const = default;
};

class EventQueue {
 public:
  /// Adds an event. `event.at` must not be before the last earliest-first pop: BrokenInvariant.
  EventHandle push(const Event& event) {
    // Separate arguments, so that they stay in registers.
    return push(event.at, event.what, event.priority, event.where, event.a, event.b);
  }

  /// The same for an event of kRanked priority. It follows all events without rank; among events of its time it is
  /// ordered by its rank (below 2^28), whenever it is pushed. There must never be two with the same time and rank, even
  /// if one was cancelled.
  EventHandle push_ranked(const Event& event, std::uint32_t rank);

  /// Removes a pending event. Returns false if it has already run or was cancelled. Constant time.
  bool cancel(EventHandle handle);

  /// True while the event has neither run nor been cancelled.
  [[nodiscard]] bool pending(EventHandle handle) const;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The next event in (time, priority, sequence) order. Precondition: not empty.
  [[nodiscard]] const Event& earliest() const;

  /// Removes and returns the next event in (time, priority, sequence) order. Precondition: not empty.
  Event pop_earliest();

  /// With very many pending events: true once after a batch of events has become near.
  bool take_batch_note() { return size_ > kMany && calendar_.take_batch_note(); }
  /// f(event) for each near event, to prefetch what they will access.
  template <class F>
  void for_each_near(F f) const {
    calendar_.for_each_near(slots_.data(), [&f](const EventSlot& slot) { f(slot.event); });
  }

  /// The i-th pending event, 0 <= i < size(), in an order that depends only on the queue's history. Linear time for the
  /// first call and after cancellations, otherwise constant.
  [[nodiscard]] const Event& pending(std::size_t i) const;

  /// Removes and returns the i-th pending event, for random and exhaustive scheduling.
  Event pop(std::size_t i);

 private:
  friend struct EventQueueProbe;  // tests: starts the sequence near its end

  using Key = EventKey;
  static constexpr std::uint32_t kSequenceEnd = 1U << 28U;
  static constexpr std::uint32_t kNoSlot = 0xffffffffU;
  static constexpr std::size_t kMany = 256;  // more than this do not stay in the simulating machine's cache
  static constexpr std::size_t kRoot = 3;    // heap_[0..2] pad, so that siblings start at a multiple of four keys

  [[nodiscard]] bool live(Key key) const { return slots_[slot_of(key)].holds(key); }

  std::uint32_t take_slot() {
    const std::uint32_t slot = first_free_;
    if (slot == kNoSlot) return new_slot();
    first_free_ = slots_[slot].next;
    return slot;
  }
  std::uint32_t new_slot();
  Event release(std::uint32_t slot) {
    EventSlot& s = slots_[slot];
    s.order = EventSlot::kFree;
    ++s.generation;
    s.next = first_free_;
    first_free_ = slot;
    --size_;
    return s.event;
  }
  EventHandle push(SimTime at, std::uint16_t what, std::uint8_t priority, std::uint32_t where, std::uint64_t a,
                   std::uint64_t b);
  EventHandle insert(std::uint32_t slot);
  void push_to_heap(Key key);
  Event pop_from_heap();
  void restart_sequence();
  // The following only tidy: they move keys, but never change the pending events.
  /// Makes the root a live key.
  void settle() const {
    if (hole_ || cancelled_ != 0) settle_root();
  }
  void settle_root() const;
  void fill_hole() const;
  void start_line() const;
  void start_calendar() const;
  void gather() const;
  void index_all() const;
  void heapify() const;
  void remove_key(std::size_t i) const;
  void sift_up(std::size_t i, Key key) const;
  void sift_down(std::size_t i, Key key) const;

  mutable std::vector<EventSlot> slots_;
  mutable EventLine line_;          // when running, it has all events
  mutable EventCalendar calendar_;  // likewise; otherwise the heap has them
  mutable std::vector<Key, boost::alignment::aligned_allocator<Key, 64>> heap_;
  std::size_t size_ = 0;               // pending events
  mutable std::size_t cancelled_ = 0;  // keys in the heap of cancelled events
  mutable bool hole_ = false;          // the key at the root has been taken
  mutable bool indexed_ = false;       // events are picked by index, so they stay in the heap
  std::uint32_t first_free_ = kNoSlot;
  std::uint32_t sequence_ = 0;
  SimTime last_popped_ = {std::numeric_limits<std::int64_t>::min()};
};

}  // namespace loco::sim
