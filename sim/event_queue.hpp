// The pending events of a simulation: small typed records ordered by (time, priority, sequence).
//
// A queue is a value: copying it copies the future of the simulation. It never runs anything itself: a run
// loop takes an event out (the earliest one, or any pending one) and gives it to the model that owns its kind.
// Determinism: equal times are ordered by priority (lower first), then by order of insertion.
//
// Inside: the near future is a 4-ary heap (Johnson, "Priority queues with update and finding minimum spanning trees",
// 1975) of 16-byte keys, four children to a cache line; the far future is a wheel (event_wheel.hpp) that feeds the heap
// a few dozen keys at a time, so that a step costs the same with a thousand or a million pending. Events stay where
// they are. Taking the earliest out leaves a hole at the root that the next push fills: one pass through the heap a
// simulated event. A cancelled event leaves its key behind, to be dropped when it comes to the top or when such keys
// outnumber the pending events. Nothing is allocated per event in steady state. At most 2^28 events may be pending.
// Threads: none of its own; the const functions may tidy the heap, so two threads may not share a queue even to read.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/event_wheel.hpp"
#include "sim/time.hpp"

namespace loco::sim {

/// What happens, where, and two words for the model that handles it.
struct Event {
  SimTime at;
  std::uint16_t what = 0;     ///< event kind; each component owns a range, see the model's own header
  std::uint8_t priority = 0;  ///< among equal times, lower runs first
  std::uint32_t where = 0;    ///< index of the component or slot it concerns
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
  /// Adds an event. `event.at` may not lie before the last earliest-first pop: BrokenInvariant.
  EventHandle push(const Event& event);

  /// Removes a pending event; false when it has already run or was cancelled. Constant time.
  bool cancel(EventHandle handle);

  /// True while the event that `handle` names has neither run nor been cancelled.
  [[nodiscard]] bool pending(EventHandle handle) const;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The next event in (time, priority, sequence) order. Precondition: not empty.
  [[nodiscard]] const Event& earliest() const;

  /// Takes out the next event in (time, priority, sequence) order. Precondition: not empty.
  Event pop_earliest();

  /// With very many events pending, they are brought near in batches. True once after a batch has come.
  bool take_batch_note() { return std::exchange(batch_, false); }
  /// f(event) for each event that is near, in no order: to fetch ahead what they will touch.
  template <class F>
  void for_each_near(F f) const {
    for (std::size_t i = kRoot + (hole_ ? 1 : 0); i < heap_.size(); ++i) f(slots_[slot_of(heap_[i])].event);
  }

  /// The i-th pending event, 0 <= i < size(), in an order that is a function of the queue's history only.
  /// Linear time on the first call and when events were cancelled since the last one, else constant.
  [[nodiscard]] const Event& pending(std::size_t i) const;

  /// Takes out the i-th pending event: the door for random and exhaustive scheduling.
  Event pop(std::size_t i);

 private:
  friend struct EventQueueProbe;  // tests: starts the sequence near its end

  // From the top bit down: time (64, sign flipped), priority (8), sequence (28), slot (28).
  using Key = EventKey;
  struct Slot {
    Event event;
    std::uint64_t order = 0;  // the lower half of its key; kFree while the slot is free
    std::uint32_t generation = 0;
    std::uint32_t next_free = kNoSlot;
  };
  static constexpr unsigned kSlotBits = 28;
  static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1;
  static constexpr std::uint32_t kSequenceEnd = 1U << 28U;
  static constexpr std::uint32_t kNoSlot = 0xffffffffU;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  static constexpr std::uint64_t kForever = ~std::uint64_t{0};
  static constexpr std::size_t kSplit = 256;
  static constexpr std::size_t kRoot = 3;  // heap_[0..2] pad, so that siblings start at a multiple of four keys

  static std::uint32_t slot_of(Key key) { return static_cast<std::uint32_t>(key) & kSlotMask; }
  [[nodiscard]] bool live(Key key) const { return slots_[slot_of(key)].order == static_cast<std::uint64_t>(key); }

  std::uint32_t take_slot() {
    const std::uint32_t slot = first_free_;
    if (slot == kNoSlot) return new_slot();
    first_free_ = slots_[slot].next_free;
    return slot;
  }
  std::uint32_t new_slot();
  Event release(std::uint32_t slot) {
    Slot& s = slots_[slot];
    s.order = kFree;
    ++s.generation;
    s.next_free = first_free_;
    first_free_ = slot;
    --size_;
    return s.event;
  }
  void restart_sequence();
  // These three only tidy: they change the shape of the heap, never the pending events.
  /// Brings a live key to the root.
  void settle() const {
    if (hole_ || cancelled_ != 0 || heap_.size() == kRoot) settle_root();
  }
  void settle_root() const;
  void fill_hole() const;
  void refill() const;
  void split() const;
  void gather() const;
  void index_all() const;
  void heapify() const;
  void remove_key(std::size_t i) const;
  void sift_up(std::size_t i, Key key) const;
  void sift_down(std::size_t i, Key key) const;

  mutable std::vector<Key, boost::alignment::aligned_allocator<Key, 64>> heap_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;                        // pending events
  mutable std::size_t cancelled_ = 0;           // keys in the heap whose events are gone
  mutable bool batch_ = false;                  // see take_batch_note()
  mutable bool hole_ = false;                   // the key at the root has been taken
  mutable bool indexed_ = false;                // events are picked by index: all keys stay in the heap
  mutable std::uint64_t near_last_ = kForever;  // keys up to this time are in the heap, later ones in the wheel
  mutable std::size_t split_at_ = kSplit;       // a heap of more keys than this is split
  mutable EventWheel wheel_;
  std::uint32_t first_free_ = kNoSlot;
  std::uint32_t sequence_ = 0;
  SimTime last_popped_ = {std::numeric_limits<std::int64_t>::min()};
};

}  // namespace loco::sim
