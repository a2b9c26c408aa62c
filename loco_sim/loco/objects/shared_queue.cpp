#include "loco_sim/loco/objects/shared_queue.hpp"

#include <algorithm>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

namespace {
/// close() turns the counter of pushes into a mark, the number of pushes, and, in the low bits, room for tickets drawn
/// later. Each thread draws at most one before its node knows that the queue is closed.
constexpr std::uint64_t kClosed = std::uint64_t{1} << 63U;
constexpr unsigned kRefusedBits = 20;
[[nodiscard]] constexpr bool is_closed(std::uint64_t pushed) { return (pushed & kClosed) != 0; }
[[nodiscard]] constexpr std::uint64_t closed_behind(std::uint64_t count) { return kClosed | count << kRefusedBits; }
[[nodiscard]] constexpr std::uint64_t count_of(std::uint64_t closed) { return (closed & ~kClosed) >> kRefusedBits; }
}  // namespace

queue_of_words::queue_of_words(within where, std::string_view name, NodeId home, std::uint64_t capacity,
                               std::uint64_t words, std::optional<expect_num> expected)
    : channel(where, name, or_all(expected, where.num_nodes())),
      home_(home),
      capacity_(capacity),
      words_(words),
      pushed_(*this, "pushed", home, 0, expected),
      popped_(*this, "popped", home, 0, expected) {
  create();
}

void queue_of_words::create() {
  require_network({Capability::ordered_puts});
  if (capacity_ == 0) throw setup_error("queue '" + full_name() + "' has room for no element");
  const std::uint64_t bytes = bytes_of(capacity_, bytes_of(words_ + 1, kWord));
  set_terms(home_text(home_) + ", room for " + std::to_string(capacity_));
  slots_ = home_ == my_node() ? create_region("slots", bytes) : expect_region(home_, "slots", bytes);
  join();
}

void queue_of_words::require_words(std::size_t found) const {
  if (found != words_) throw other_words("queue '" + full_name() + "' has elements", words_, found);
}

std::uint64_t queue_of_words::state_of(std::uint64_t ticket) {
  mem_ref state(here(), kWord);
  ack_key key(here());
  here().get(state.address(), remote(slots_, home_), slot(ticket), kWord, &key);
  key.wait();
  return state.load();
}

std::optional<std::uint64_t> queue_of_words::try_ticket(atomic_word& counter, Turn turn) {
  while (true) {
    const std::uint64_t next = counter.load();
    if (is_closed(next)) return std::nullopt;  // only the counter of pushes can be closed
    const std::uint64_t state = state_of(next);
    const std::uint64_t good = state_for(next, turn);
    if (state < good) return std::nullopt;  // the slot is not ready for this turn
    if (state == good && counter.compare_swap(next, next + 1) == next) return next;
  }  // another thread has drawn this ticket
}

queue_of_words::Seen queue_of_words::look(std::uint64_t ticket) {
  mem_ref seen(here(), kWord), pushed(here(), kWord);
  ack_key key(here());
  here().get(seen.address(), remote(slots_, home_), slot(ticket), kWord, &key, {.more = true});
  pushed_.load(pushed, key);
  key.wait();
  return {seen.load(), pushed.load()};
}

std::optional<std::uint64_t> queue_of_words::ticket(atomic_word& counter, Turn turn) {
  const std::uint64_t mine = counter.fetch_add(1);
  if (is_closed(mine)) return std::nullopt;
  const std::int64_t since_ps = transport().now_ps();
  patience waited;
  std::optional<waiting_for> note;
  while (true) {
    const Seen seen = turn == Turn::pop ? look(mine) : Seen{.state = state_of(mine)};
    const std::uint64_t state = seen.state;
    if (state == state_for(mine, turn)) return mine;
    if (is_closed(seen.pushed) && mine >= count_of(seen.pushed)) return std::nullopt;
    const auto lost = waited.lost_with(here(), *this, state, kPatiencePs);
    // Returns the ticket if it is the latest, so that no ticket is missing if the turn comes after all. Waiters with
    // later tickets return theirs first.
    if (lost && (counter.compare_swap(mine + 1, mine) == mine + 1 ||
                 waited.lost_with(here(), *this, state, kGiveBackPatiencePs).has_value()))
      throw operation_error(Status::retry_exc_err,
                            "node " + std::to_string(my_node()) + ": queue '" + full_name() + "': the turn to " +
                                (turn == Turn::push ? "push" : "pop") + " does not come; node " +
                                std::to_string(*lost) + ", which does not answer, may have had the one before",
                            *lost);
    if (!note)
      note.emplace(transport(), [this, turn] {
        return "queue '" + full_name() + (turn == Turn::push ? "' has room" : "' has an element");
      });
    rest(transport().now_ps() - since_ps);
  }
}

/// Pauses between two polls of a slot on the home node, for an eighth of the time waited so far. A wait of time t then
/// takes about 8 ln(t / 8 round trips) + 8 polls and ends at most t / 8 late.
void queue_of_words::rest(std::int64_t waited_ps) {
  constexpr std::int64_t kShare = 8;
  transport().compute(std::min(waited_ps, kPatiencePs) / kShare);
}

void queue_of_words::fill(std::uint64_t ticket, std::span<const std::uint64_t> element) {
  mem_ref source(here(), (words_ + 1) * kWord);
  source.store(state_for(ticket, Turn::pop));
  for (std::uint64_t i = 0; i < words_; ++i) source.store(element[i], (i + 1) * kWord);
  ack_key key(here());
  here().put(source.address() + kWord, remote(slots_, home_), slot(ticket) + kWord, words_ * kWord, &key);
  here().put(source.address(), remote(slots_, home_), slot(ticket), kWord, &key);
  key.wait();
}

void queue_of_words::take(std::uint64_t ticket, std::span<std::uint64_t> element) {
  mem_ref landing(here(), (words_ + 1) * kWord);
  ack_key key(here());
  here().get(landing.address() + kWord, remote(slots_, home_), slot(ticket) + kWord, words_ * kWord, &key);
  key.wait();
  for (std::uint64_t i = 0; i < words_; ++i) element[i] = landing.load((i + 1) * kWord);
  landing.store(state_for(ticket + capacity_, Turn::push));
  here().put(landing.address(), remote(slots_, home_), slot(ticket), kWord, &key);
  key.wait();
}

void queue_of_words::push(std::span<const std::uint64_t> element) {
  require_words(element.size());
  if (seen_closed_) refuse_closed("push");
  const auto mine = ticket(pushed_, Turn::push);
  if (!mine) {
    seen_closed_ = true;
    refuse_closed("push");
  }
  fill(*mine, element);
}

bool queue_of_words::try_push(std::span<const std::uint64_t> element) {
  require_words(element.size());
  const auto good = try_ticket(pushed_, Turn::push);
  if (good) fill(*good, element);
  return good.has_value();
}

bool queue_of_words::pop(std::span<std::uint64_t> element) {
  require_words(element.size());
  const auto mine = ticket(popped_, Turn::pop);
  if (mine) take(*mine, element);
  return mine.has_value();
}

bool queue_of_words::try_pop(std::span<std::uint64_t> element) {
  require_words(element.size());
  const auto good = try_ticket(popped_, Turn::pop);
  if (good) take(*good, element);
  return good.has_value();
}

void queue_of_words::close() {
  std::uint64_t pushed = pushed_.load();
  while (!is_closed(pushed)) {
    const std::uint64_t old = pushed_.compare_swap(pushed, closed_behind(pushed));
    if (old == pushed) return;
    pushed = old;
  }
}

bool queue_of_words::closed() { return is_closed(pushed_.load()); }

void queue_of_words::refuse_closed(std::string_view what) const {
  throw queue_closed("node " + std::to_string(my_node()) + ": " + std::string(what) + ": queue '" + full_name() +
                     "' is closed");
}

}  // namespace loco
