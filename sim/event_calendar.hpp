// The pending events of a timed run: a calendar for the near future (Brown, "Calendar queues", CACM 1988) and a wheel
// for what is later (event_wheel.hpp).
//
// The near future is a window of 4096 buckets of equal width. A bucket is a sorted list of events, so with a suitable
// width, pushing an event and taking the earliest one take a few instructions each, whatever the number of pending
// events. When a window is empty, the next one contains the next event of the wheel. The width is 64^(level - 2)
// picoseconds. It becomes finer after a window with too many events or too long lists, and coarser after one with
// hardly any. The order of events does not depend on it. A value; used only by EventQueue, which owns the slots of the
// events.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event_slot.hpp"
#include "sim/event_wheel.hpp"

namespace loco::sim {

class EventCalendar {
 public:
  /// False before start() and after pour_all(): there are no events here.
  [[nodiscard]] bool running() const { return running_; }

  /// Takes over these events. Precondition: not running, and there is at least one.
  void start(EventSlot* slots, const EventKey* begin, const EventKey* end);

  /// Precondition: running; the event is in its slot.
  void push(EventSlot* slots, std::uint32_t slot) {
    if (slots[slot].time() > last_) {
      wheel_.push(slots[slot].key());
      return;
    }
    insert(slots, slot);
    if (walked_ > kWalking) [[unlikely]] {
      cut(slots);
    }
  }

  /// Removes an event. Precondition: running; the event is still in its slot.
  void cancel(EventSlot* slots, std::uint32_t slot);

  /// The slot of the next event, which stays in its list. Precondition: there is one.
  std::uint32_t earliest(EventSlot* slots) {
    if (near_ == 0) [[unlikely]] {
      refill(slots);
    }
    return slots[tails_[first_bucket()]].next;
  }

  /// The same, but removes it.
  std::uint32_t take(EventSlot* slots) {
    if (near_ == 0) [[unlikely]] {
      refill(slots);
    }
    const std::size_t bucket = first_bucket();
    const std::uint32_t tail = tails_[bucket];
    const std::uint32_t head = slots[tail].next;
    if (head == tail) {
      unmark(bucket);
    } else {
      slots[tail].next = slots[head].next;
    }
    --near_;
    ++taken_;
    return head;
  }

  /// Moves the keys of all events to `out`, the near ones in order and including stale keys, and stops running.
  template <typename Keys>
  void pour_all(const EventSlot* slots, Keys& out) {
    for_each_near(slots, [&out](const EventSlot& slot) { out.push_back(slot.key()); });
    wheel_.pour_all(out);
    *this = {};
  }

  /// f(slot) for each event of the window, in order.
  template <class F>
  void for_each_near(const EventSlot* slots, F f) const {
    for (std::uint64_t words = occupied_words_; words != 0; words &= words - 1) {
      const auto word = static_cast<std::size_t>(std::countr_zero(words));
      for (std::uint64_t bits = occupied_[word]; bits != 0; bits &= bits - 1) {
        const std::uint32_t tail = tails_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
        std::uint32_t slot = tail;
        do {
          slot = slots[slot].next;
          f(slots[slot]);
        } while (slot != tail);
      }
    }
  }

  /// True once after the beginning of a window.
  bool take_batch_note() { return std::exchange(batch_, false); }

  /// Keys of cancelled events that the wheel still holds.
  [[nodiscard]] std::size_t stale() const { return stale_; }
  /// Drops them.
  void compact(const EventSlot* slots);

 private:
  static constexpr std::size_t kBuckets = std::size_t{64} * 64;
  static constexpr unsigned kFinest = 2;           // level of a window of 4096 ps
  static constexpr unsigned kUsual = 4;            // 16.8 us
  static constexpr unsigned kCoarsest = 8;         // 281 s
  static constexpr std::size_t kCrowd = 2048;      // a window with more events than this is made finer
  static constexpr std::uint32_t kSparse = 16;     // after a window with fewer than this the next one is coarser
  static constexpr std::uint32_t kWalking = 4096;  // after this many steps through lists the window is made finer

  [[nodiscard]] std::size_t bucket_of(std::uint64_t time) const {
    return time <= first_ ? 0 : static_cast<std::size_t>((time - first_) >> shift_);
  }
  [[nodiscard]] bool marked(std::size_t bucket) const { return (occupied_[bucket / 64] >> (bucket % 64) & 1U) != 0; }
  void mark(std::size_t bucket) {
    occupied_[bucket / 64] |= 1ULL << (bucket % 64);
    occupied_words_ |= 1ULL << (bucket / 64);
  }
  void unmark(std::size_t bucket) {
    occupied_[bucket / 64] &= ~(1ULL << (bucket % 64));
    if (occupied_[bucket / 64] == 0) occupied_words_ &= ~(1ULL << (bucket / 64));
  }
  [[nodiscard]] std::size_t first_bucket() const {
    const auto word = static_cast<std::size_t>(std::countr_zero(occupied_words_));
    return word * 64 + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
  }

  void insert(EventSlot* slots, std::uint32_t slot) {
    const std::size_t bucket = bucket_of(slots[slot].time());
    ++near_;
    std::uint32_t& tail = tails_[bucket];
    if (!marked(bucket)) {
      mark(bucket);
      tail = slots[slot].next = slot;
    } else if (slots[tail].key() < slots[slot].key()) {
      slots[slot].next = slots[tail].next;
      tail = slots[tail].next = slot;
    } else {
      insert_before(slots, tail, slot);
    }
  }
  void insert_before(EventSlot* slots, std::uint32_t tail, std::uint32_t slot);
  void cut(EventSlot* slots);
  void refill(EventSlot* slots);
  void pour(EventSlot* slots);

  EventWheel wheel_;
  std::vector<EventKey> poured_;
  std::vector<std::uint32_t> tails_;          // of each bucket's circular list, whose tail points to its head
  std::array<std::uint64_t, 64> occupied_{};  // one bit per bucket
  std::uint64_t occupied_words_ = 0;          // one bit per word of these
  std::uint64_t first_ = 0;                   // start of the window; events due earlier are in the first bucket
  std::uint64_t last_ = 0;                    // end of the window; later events are in the wheel
  std::size_t near_ = 0;
  std::size_t stale_ = 0;
  std::uint32_t taken_ = 0;   // in this window
  std::uint32_t walked_ = 0;  // steps through lists, in this window
  unsigned level_ = kUsual;
  unsigned shift_ = 0;
  bool running_ = false;
  bool batch_ = false;  // see take_batch_note()
};

}  // namespace loco::sim
