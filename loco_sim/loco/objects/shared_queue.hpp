// A first-in-first-out queue of fixed-size elements that all threads of all nodes push to and pop from.
//
// The LOCO paper names queues among its channel types (App. A) and leaves the algorithm open. This one is the bounded
// queue with tickets (D. Vyukov, "Bounded MPMC queue"; the idea is that of Gottlieb, Lubachevsky and Rudolph, TOPLAS
// 1983) on remote atomics. The home node has two counters, how many elements have been pushed and popped, and a ring of
// slots, each a state word and the element. A push takes ticket t: it goes to slot t mod capacity in lap t / capacity.
// The state says whose turn it is: 2 lap while that lap's push may fill the slot, 2 lap + 1 while its pop may take it
// out. An element is put before its state: on one queue pair, so whoever sees the state sees the element.
//
// push and pop draw tickets, so they are fair, and wait by asking the home node again and again; try_push and try_pop
// draw a ticket only when it is good: while the oldest push is not finished, nothing can be popped, and while the
// oldest pop is not, nothing be pushed where it was. All accesses are the NIC's, on the home node too (see atomic_var).
// Elements are pushed in some total order; each is popped once, in that order.
//
// close() ends it: one compare-and-swap turns the counter of pushes into a mark and their number, so who draws a ticket
// behind that sees the mark, and who waits to pop looks for it beside the slot's state. What has been pushed before, or
// has its ticket, is there to be popped.
//
// A node that stops with a ticket leaves its slot as it is: what waits for that slot gives its ticket back and ends
// with operation_error, the latest ticket first. So does what waits for a turn that nobody had, in an empty queue or a
// full one: it cannot tell. The queue is as it was before the call, and the call may be made again; only behind the
// ticket of a node that stopped the own one is lost, too. try_push and try_pop find the queue full or empty then.
// Errors: queue_closed for what comes behind close(). operation_error when the home does not answer, or when a node
// that does not answer may have had the turn.
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

/// The part that does not depend on the type. Elements of another number of words are a size_error.
class queue_of_words : public channel {
 public:
  queue_of_words(within where, std::string_view name, NodeId home, std::uint64_t capacity, std::uint64_t words,
                 std::optional<expect_num> expected = {});

  void push(std::span<const std::uint64_t> element);
  [[nodiscard]] bool try_push(std::span<const std::uint64_t> element);
  /// False when the queue is closed and has no element for this call.
  [[nodiscard]] bool pop(std::span<std::uint64_t> element);
  [[nodiscard]] bool try_pop(std::span<std::uint64_t> element);
  void close();
  [[nodiscard]] bool closed();

 protected:
  [[noreturn]] void refuse_closed(std::string_view what) const;

 private:
  enum class Turn : std::uint8_t { push, pop };
  /// Once a node does not answer, whoever sees its slot stay as it is for so long gives its ticket back, ...
  static constexpr std::int64_t kPatiencePs = 1'000'000'000;
  /// ... or for so long gives up without: a later one is with a node that does not answer.
  static constexpr std::int64_t kGiveBackPatiencePs = 10 * kPatiencePs;

  void create();
  /// Throws size_error for an element of another number of words.
  void require_words(std::size_t found) const;
  [[nodiscard]] std::uint64_t slot(std::uint64_t ticket) const { return ticket % capacity_ * (words_ + 1) * 8; }
  [[nodiscard]] std::uint64_t state_for(std::uint64_t ticket, Turn turn) const {
    return 2 * (ticket / capacity_) + (turn == Turn::pop ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t state_of(std::uint64_t ticket);
  /// A good ticket, or nothing when there is none now.
  std::optional<std::uint64_t> try_ticket(atomic_word& counter, Turn turn);
  /// Nothing when the queue has been closed before it.
  std::optional<std::uint64_t> ticket(atomic_word& counter, Turn turn);
  /// What is known of a slot, and the counter of pushes beside it.
  struct Seen {
    std::uint64_t state = 0, pushed = 0;
  };
  [[nodiscard]] Seen look(std::uint64_t ticket);
  void rest(std::int64_t waited_ps);
  void fill(std::uint64_t ticket, std::span<const std::uint64_t> element);
  void take(std::uint64_t ticket, std::span<std::uint64_t> element);

  NodeId home_;
  std::uint64_t capacity_;
  std::uint64_t words_;                    ///< of an element
  std::atomic<bool> seen_closed_ = false;  ///< by this node's pushes, of which none draws another ticket
  RegionIndex slots_ = 0;
  atomic_word pushed_;
  atomic_word popped_;
};

template <typename T>
class shared_queue : private queue_of_words {
  using Words = typename value_words<T>::Words;

 public:
  shared_queue(networked_node& mgr, std::string_view name, std::uint64_t capacity, NodeId home = 0,
               std::optional<expect_num> expected = {})
      : queue_of_words(mgr, name, home, capacity, Words{}.size(), expected) {}
  shared_queue(channel& parent, std::string_view name, std::uint64_t capacity, NodeId home = 0,
               std::optional<expect_num> expected = {})
      : queue_of_words(parent, name, home, capacity, Words{}.size(), expected) {}

  using channel::full_name;
  using channel::ready;
  using channel::wait_for_ready;

  /// Until there is room. Throws queue_closed.
  void push(const T& element) { queue_of_words::push(value_words<T>::of(element)); }
  /// False when the queue is full, or closed.
  [[nodiscard]] bool try_push(const T& element) { return queue_of_words::try_push(value_words<T>::of(element)); }
  /// Until there is an element. Throws queue_closed when none will come.
  [[nodiscard]] T pop() {
    Words element;
    if (!queue_of_words::pop(element)) refuse_closed("pop");
    return value_words<T>::value(element);
  }
  /// The same; nothing when none will come.
  [[nodiscard]] std::optional<T> next() {
    Words element;
    return queue_of_words::pop(element) ? std::optional(value_words<T>::value(element)) : std::nullopt;
  }
  /// Nothing when the queue is empty.
  [[nodiscard]] std::optional<T> try_pop() {
    Words element;
    return queue_of_words::try_pop(element) ? std::optional(value_words<T>::value(element)) : std::nullopt;
  }
  /// No more is pushed from now on, by any node. Any thread may do it, and more than once.
  using queue_of_words::close;
  /// Has it been? A round trip.
  using queue_of_words::closed;
};

}  // namespace loco
