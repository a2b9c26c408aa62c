// The pending events of a timed run: a calendar for the near future (Brown, "Calendar queues", CACM 1988) and a wheel
// for what is later (event_wheel.hpp).
//
// The near future is a ring of 4096 buckets of equal width, which turns with time: when the events of 64 buckets have
// been taken, the wheel's events of the 64 that come behind the others are put in their place. A bucket is a sorted
// list of events, so with a suitable width, pushing an event and taking the earliest one take a few instructions each,
// whatever the number of pending events. The width is a power of two of picoseconds. It is halved when lists become
// long, and doubled when many events are beyond the ring. The order of events does not depend on it. A value; used only
// by EventQueue, which owns the slots of the events.
#pragma once

#include <algorithm>
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
    const std::uint64_t bucket = slots[slot].time() >> shift_;
    if (bucket >= end_) {
      ++far_;
      wheel_.push(slots[slot].key());
      return;
    }
    insert(slots, slot, std::max(bucket, first_));
    if (walked_ > kWalking) [[unlikely]] {
      adapt(slots);
    }
  }

  /// Removes an event. Precondition: running; the event is still in its slot.
  void cancel(EventSlot* slots, std::uint32_t slot);

  /// The slot of the next event, which stays in its list. Precondition: there is one.
  std::uint32_t earliest(EventSlot* slots) {
    if (near_ == 0) [[unlikely]] {
      refill(slots);
    }
    return slots[tails_[first_occupied()]].next;
  }

  /// The same, but removes it.
  std::uint32_t take(EventSlot* slots) {
    if (near_ == 0) [[unlikely]] {
      refill(slots);
    }
    const std::size_t place = first_occupied();
    const std::uint32_t tail = tails_[place];
    const std::uint32_t head = slots[tail].next;
    if (head == tail) {
      unmark(place);
    } else {
      slots[tail].next = slots[head].next;
    }
    --near_;
    ++taken_;
    const std::uint64_t before = first_;
    first_ += (place - first_) % kBuckets;
    if ((first_ ^ before) >= kWord) [[unlikely]] {
      turn(slots);
    }
    return head;
  }

  /// Moves the keys of all events to `out`, the near ones in order and including stale keys, and stops running.
  template <typename Keys>
  void pour_all(const EventSlot* slots, Keys& out) {
    for_each_near(slots, [&out](const EventSlot& slot) { out.push_back(slot.key()); });
    wheel_.pour_all(out);
    *this = {};
  }

  /// f(slot) for each event of the ring, in order.
  template <class F>
  void for_each_near(const EventSlot* slots, F f) const {
    for (std::size_t i = 0; i < kWords; ++i) for_each_of_word(slots, (first_ / kWord + i) % kWords, f);
  }
  /// The same for the events that come behind those of the present 64 buckets.
  template <class F>
  void for_each_soon(const EventSlot* slots, F f) const {
    for_each_of_word(slots, (first_ / kWord + 1) % kWords, f);
  }

  /// True once after the ring has turned.
  bool take_batch_note() { return std::exchange(batch_, false); }

  /// Keys of cancelled events that the wheel still holds.
  [[nodiscard]] std::size_t stale() const { return stale_; }
  /// Drops them.
  void compact(const EventSlot* slots);

 private:
  static constexpr std::size_t kWord = 64;   // buckets with a common word of bits
  static constexpr std::size_t kWords = 64;  // of the ring
  static constexpr std::size_t kBuckets = kWord * kWords;
  static constexpr unsigned kFinest = 2;           // buckets of 4 ps
  static constexpr unsigned kUsual = 12;           // 4 ns
  static constexpr unsigned kCoarsest = 36;        // 69 ms
  static constexpr std::uint32_t kWalking = 4096;  // after this many events, or steps through lists, the width is
                                                   // looked at
  static constexpr std::uint32_t kJumps = 64;      // or after this many times that nothing was near

  [[nodiscard]] bool marked(std::size_t place) const { return (occupied_[place / kWord] >> (place % kWord) & 1U) != 0; }
  void mark(std::size_t place) {
    occupied_[place / kWord] |= 1ULL << (place % kWord);
    occupied_words_ |= 1ULL << (place / kWord);
  }
  void unmark(std::size_t place) {
    occupied_[place / kWord] &= ~(1ULL << (place % kWord));
    if (occupied_[place / kWord] == 0) occupied_words_ &= ~(1ULL << (place / kWord));
  }
  /// The place of the first bucket with events. The ring ends before the word of the present bucket, so that each word
  /// holds buckets of one turn.
  [[nodiscard]] std::size_t first_occupied() const {
    const auto now = static_cast<int>(first_ / kWord % kWords);
    const auto ahead = static_cast<std::size_t>(std::countr_zero(std::rotr(occupied_words_, now)));
    const std::size_t word = (static_cast<std::size_t>(now) + ahead) % kWords;
    return word * kWord + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
  }
  template <class F>
  void for_each_of_word(const EventSlot* slots, std::size_t word, F f) const {
    for (std::uint64_t bits = occupied_[word]; bits != 0; bits &= bits - 1) {
      const std::uint32_t tail = tails_[word * kWord + static_cast<std::size_t>(std::countr_zero(bits))];
      std::uint32_t slot = tail;
      do {
        slot = slots[slot].next;
        f(slots[slot]);
      } while (slot != tail);
    }
  }

  void insert(EventSlot* slots, std::uint32_t slot, std::uint64_t bucket) {
    const std::size_t place = bucket % kBuckets;
    ++near_;
    std::uint32_t& tail = tails_[place];
    if (!marked(place)) {
      mark(place);
      tail = slots[slot].next = slot;
    } else if (slots[tail].key() < slots[slot].key()) {
      slots[slot].next = slots[tail].next;
      tail = slots[tail].next = slot;
    } else {
      insert_before(slots, tail, slot);
    }
  }
  void insert_before(EventSlot* slots, std::uint32_t tail, std::uint32_t slot);
  void refill(EventSlot* slots);
  void turn(EventSlot* slots);
  void fill(EventSlot* slots);
  void adapt(EventSlot* slots);
  void set_width(EventSlot* slots, unsigned shift);

  EventWheel wheel_;
  std::vector<EventKey> poured_;
  std::vector<std::uint32_t> tails_;              // of each bucket's circular list, whose tail points to its head
  std::array<std::uint64_t, kWords> occupied_{};  // one bit per bucket
  std::uint64_t occupied_words_ = 0;              // one bit per word of these
  // Buckets are counted from the beginning of time; bucket b is at place b % kBuckets of the ring.
  std::uint64_t first_ = 0;  // that of the last event taken; what is due earlier is in it, too
  std::uint64_t end_ = 0;    // the first one beyond the ring
  std::size_t near_ = 0;
  std::size_t stale_ = 0;
  // Since the width was looked at:
  std::uint32_t taken_ = 0;
  std::uint32_t walked_ = 0;  // steps through lists
  std::uint32_t far_ = 0;     // pushed beyond the ring
  std::uint32_t jumps_ = 0;   // times that nothing was near
  unsigned shift_ = kUsual;   // the logarithm of the width
  bool running_ = false;
  bool batch_ = false;  // see take_batch_note()
};

}  // namespace loco::sim
