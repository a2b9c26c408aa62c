// A FIFO queue of fixed-size elements that all threads of all nodes push to and pop from.
//
// The LOCO paper names queues among its channel types (App. A) and leaves the algorithm open. This is the bounded queue
// with tickets (D. Vyukov, "Bounded MPMC queue"; the idea is from Gottlieb, Lubachevsky and Rudolph, TOPLAS 1983) on
// remote atomics. The home node holds two counters, of pushes and of pops, and a ring of slots, each a state word and
// an element. The push with ticket t uses slot t mod capacity in lap t / capacity. The state says whose turn it is: 2
// lap while that lap's push may fill the slot, 2 lap + 1 while its pop may empty it. The element is put before the
// state on the same queue pair, so a thread that sees the state sees the element.
//
// push and pop draw tickets, so they are fair, and poll the home node for their turn. try_push and try_pop draw a
// ticket only if its turn has come: nothing can be popped while the oldest push is unfinished, and no slot refilled
// while its pop is unfinished. All accesses go through the NIC, on the home node too (see atomic_var). Pushes have a
// total order; each element is popped once, in that order.
//
// close() replaces the counter of pushes by a mark and their number, with one compare-and-swap. A later push draws a
// ticket and sees the mark; a waiting pop reads the mark beside the slot's state. Elements pushed before, or whose push
// holds a ticket, can still be popped.
//
// A node that stops while it holds a ticket leaves its slot unchanged. Calls that wait for that slot then return their
// tickets, the latest first, and throw operation_error. So do calls that wait in an empty or full queue, because they
// cannot tell the difference. The queue is then as it was before the call, which may be repeated; a ticket is lost only
// if it comes after the ticket of the stopped node. try_push and try_pop find such a queue full or empty.
// Errors: queue_closed after close(). operation_error if the home does not answer, or if a node that does not answer
// may have held the turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/memory/value_words.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"

namespace loco {

/// The part that does not depend on the element's type. An element with the wrong number of words throws size_error.
class queue_of_words : public channel {
 public:
  queue_of_words(within where, std::string_view name, NodeId home, std::uint64_t capacity, std::uint64_t words,
                 std::optional<expect_num> expected = {});

  void push(std::span<const std::uint64_t> element);
  [[nodiscard]] bool try_push(std::span<const std::uint64_t> element);
  /// Returns false if the queue is closed and has no element left for this call.
  [[nodiscard]] bool pop(std::span<std::uint64_t> element);
  [[nodiscard]] bool try_pop(std::span<std::uint64_t> element);
  void close();
  [[nodiscard]] bool closed();

 protected:
  [[noreturn]] void refuse_closed(std::string_view what) const;

 private:
  enum class Turn : std::uint8_t { push, pop };
  /// If some node does not answer, a waiter returns its ticket once its slot has not changed for this long.
  static constexpr std::int64_t kPatiencePs = 1'000'000'000;
  /// It gives up without returning the ticket after this long, because then a node that does not answer holds a later
  /// one.
  static constexpr std::int64_t kGiveBackPatiencePs = 10 * kPatiencePs;

  void create();
  /// Throws size_error for an element with the wrong number of words.
  void require_words(std::size_t found) const;
  [[nodiscard]] std::uint64_t slot(std::uint64_t ticket) const { return ticket % capacity_ * (words_ + 1) * 8; }
  [[nodiscard]] std::uint64_t state_for(std::uint64_t ticket, Turn turn) const {
    return 2 * (ticket / capacity_) + (turn == Turn::pop ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t state_of(std::uint64_t ticket);
  /// Draws a ticket whose turn has come; nothing if there is none now.
  std::optional<std::uint64_t> try_ticket(atomic_word& counter, Turn turn);
  /// Draws a ticket and waits for its turn; nothing if the queue was closed before.
  std::optional<std::uint64_t> ticket(atomic_word& counter, Turn turn);
  /// The state of a slot and the counter of pushes, read together.
  struct Seen {
    std::uint64_t state = 0, pushed = 0;
  };
  [[nodiscard]] Seen look(std::uint64_t ticket);
  void rest(std::int64_t waited_ps);
  void fill(std::uint64_t ticket, std::span<const std::uint64_t> element);
  void take(std::uint64_t ticket, std::span<std::uint64_t> element);

  NodeId home_;
  std::uint64_t capacity_;
  std::uint64_t words_;                    ///< words of an element
  std::atomic<bool> seen_closed_ = false;  ///< once a push of this node is refused; later ones draw no ticket
  RegionIndex slots_ = 0;
  atomic_word pushed_;
  atomic_word popped_;
};

template <typename T>
class shared_queue : private queue_of_words {
  using Words = typename value_words<T>::Words;

 public:
  shared_queue(within where, std::string_view name, std::uint64_t capacity, NodeId home = 0,
               std::optional<expect_num> expected = {})
      : queue_of_words(where, name, home, capacity, Words{}.size(), expected) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;

  /// Waits for room. Throws queue_closed.
  void push(const T& element) { queue_of_words::push(value_words<T>::of(element)); }
  /// Returns false if the queue is full or closed.
  [[nodiscard]] bool try_push(const T& element) { return queue_of_words::try_push(value_words<T>::of(element)); }
  /// Waits for an element. Throws queue_closed if none will come.
  [[nodiscard]] T pop() {
    Words element;
    if (!queue_of_words::pop(element)) refuse_closed("pop");
    return value_words<T>::value(element);
  }
  /// Waits for an element; empty if none will come.
  [[nodiscard]] std::optional<T> next() {
    Words element;
    return queue_of_words::pop(element) ? std::optional(value_words<T>::value(element)) : std::nullopt;
  }
  /// Empty if the queue is empty.
  [[nodiscard]] std::optional<T> try_pop() {
    Words element;
    return queue_of_words::try_pop(element) ? std::optional(value_words<T>::value(element)) : std::nullopt;
  }
  /// Refuses all further pushes, on every node. Any thread may call it, and repeatedly.
  using queue_of_words::close;
  /// True if the queue is closed. Takes a round trip.
  using queue_of_words::closed;
};

}  // namespace loco
