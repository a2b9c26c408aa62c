#include "loco_sim/loco/mutex.hpp"

#include <algorithm>
#include <exception>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/acquisition.hpp"
#include "loco_sim/loco/bounds.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/handover.hpp"
#include "loco_sim/loco/lock_words.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/patience.hpp"

namespace loco {

using namespace lock_words;

namespace {
/// What nodes have to agree on, where it is not as ever.
std::string text_of(const mutex_options& options) {
  const mutex_options usual;
  std::string text;
  if (options.hand_overs_max != usual.hand_overs_max)
    text += ", at most " + std::to_string(options.hand_overs_max) + " hand-overs within a node";
  if (!options.fence) text += ", without fences";
  if (options.device_memory) text += ", in the NIC's memory";
  if (!options.fence_home) text += ", without fences of the home";
  if (options.patience_ps != usual.patience_ps) text += ", patience of " + std::to_string(options.patience_ps) + " ps";
  return text;
}
}  // namespace

mutex_array::mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options)
    : mutex_array(where, name, std::nullopt, count, options) {}

mutex_array::mutex_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
                         mutex_options options)
    : channel(where, name, or_all(options.peers, where.num_nodes())), home_(home), count_(count), options_(options) {
  create();
}

std::uint64_t mutex_array::home_bytes() const { return kPlaces + num_nodes() * kPlaceBytes; }

void mutex_array::create() {
  require_network({Capability::atomics, Capability::ordered_puts, Capability::reads_push_puts});
  if (count_ == 0) throw setup_error("'" + full_name() + "': an array of no locks");
  const std::uint64_t nodes = home_ ? 1 : num_nodes();
  const std::uint64_t bytes = bytes_of((count_ - 1) / nodes + 1, home_bytes());
  const Where where = options_.device_memory ? Where::device : Where::host;
  if (!home_)
    words_ = symmetric_region("words", bytes, where);
  else if (*home_ == my_node())
    words_ = create_region("words", bytes, where);
  else
    words_ = expect_region(*home_, "words", bytes);
  seats_ = symmetric_region("seats", bytes_of(count_, kSeatBytes));
  locks_ = std::vector<std::atomic<local_lock*>>(count_);
  set_terms(std::to_string(count_) + " lock(s), " + (home_ ? home_text(*home_) : "striped over the nodes") +
            text_of(options_));
  join();
}

NodeId mutex_array::home(std::uint64_t k) const { return home_ ? *home_ : static_cast<NodeId>(k % num_nodes()); }

mutex_array::word_at mutex_array::home_word(std::uint64_t k, std::uint64_t word) const {
  return {remote(words_, home(k)), (home_ ? k : k / num_nodes()) * home_bytes() + word};
}

/// No more tickets are drawn and not served than there are nodes: the next one for a place is drawn when the one before
/// has let go. A sign that comes late all the same is one that nobody looks for any more.
mutex_array::word_at mutex_array::name_word(std::uint64_t k, std::uint64_t drawn) const {
  return home_word(k, kPlaces + ticket_of(drawn) % num_nodes() * kPlaceBytes);
}

mutex_array::word_at mutex_array::sign_word(std::uint64_t k, std::uint64_t drawn) const {
  return home_word(k, kPlaces + ticket_of(drawn) % num_nodes() * kPlaceBytes + kSignInPlace);
}

/// A node that takes part and has not met this one yet will soon: set-up messages are under way.
mutex_array::word_at mutex_array::seat_word(NodeId node, std::uint64_t k, std::uint64_t word) const {
  while (!reaches(seats_, node) && !lost(node)) transport().compute(kLookAgainPs);
  return {remote(seats_, node), k * kSeatBytes + word};
}

Address mutex_array::my_seat(std::uint64_t k, std::uint64_t word) const {
  return local(seats_).base + k * kSeatBytes + word;
}

mutex_array::local_lock& mutex_array::mine(std::uint64_t k) {
  if (k >= count_)
    throw ownership_error("'" + full_name() + "' has " + std::to_string(count_) + " locks, no lock " +
                          std::to_string(k));
  if (local_lock* const lock = locks_[k].load(std::memory_order_acquire)) return *lock;
  const std::lock_guard guard(mutex_);
  if (local_lock* const lock = locks_[k].load(std::memory_order_relaxed)) return *lock;
  local_lock& made = made_.emplace_back(transport());
  locks_[k].store(&made, std::memory_order_release);
  return made;
}

void mutex_array::lock(std::uint64_t k) {
  if (held(mine(k)))  // it would wait for itself
    throw ownership_error("lock " + std::to_string(k) + " of '" + full_name() + "' is held already by " + caller());
  acquisition attempt(*this, acquisition::Rests::yes);
  attempt.start(k, 0);
  while (!attempt.poll()) transport().pause();
}

bool mutex_array::try_lock(std::uint64_t k) {
  local_lock& local = mine(k);
  Transport& t = transport();
  // The node's other threads first: only where nobody waits or has it is the own ticket served at once.
  const std::uint64_t turn = t.flag_load(local.serving);
  if (!t.flag_compare_exchange(local.next, turn, turn + 1)) return false;
  t.begin_call({"lock", "acquire", full_name(), 0, k});
  try {
    local.turn = turn;
    if (!draw_if_free(k, local)) {
      give_up(local);
      t.abandon_call(0);
      return false;
    }
  } catch (const std::exception&) {
    give_up(local);
    t.abandon_call(0);
    throw;
  }
  local.holder.store(t.my_thread() + 1, std::memory_order_relaxed);
  t.end_call(0, 0);
  return true;
}

/// Draws the ticket that is served, if nobody has. That nobody had drawn it until now says that it is served still.
bool mutex_array::draw_if_free(std::uint64_t k, local_lock& local) {
  mem_ref answers(mgr(), kServingAndNext + kWord);
  ack_key key(mgr());
  const word_at served = home_word(k, kServing), next = home_word(k, kNext);
  mgr().get(answers.address(), served.region, served.offset, kServingAndNext, &key);
  key.wait();
  const std::uint64_t drawn = answers.load(0);
  if (answers.load(kWord) != drawn) return false;
  mgr().compare_swap(answers.address() + kServingAndNext, next.region, next.offset, drawn, drawn + share_of(my_node()),
                     &key, {.fenced = false});
  key.wait();
  if (answers.load(kServingAndNext) != drawn) return false;
  local.drawn = drawn;
  local.contended = false;
  return true;
}

bool mutex_array::try_lock_for(std::uint64_t k, std::int64_t ps) {
  Transport& t = transport();
  constexpr std::int64_t kShare = 8;
  const std::int64_t begin = t.now_ps();
  while (!try_lock(k)) {
    const std::int64_t waited = t.now_ps() - begin;
    if (waited >= ps) return false;
    t.compute(std::min(std::max<std::int64_t>(1, waited / kShare), ps - waited));
  }
  return true;
}

void mutex_array::unlock(std::uint64_t k) {
  require_held(k, mine(k));  // whoever does not hold it makes no call
  handover passing(*this, options_.fence);
  passing.start(k, 0);
  while (!passing.poll()) transport().pause();
}

void mutex_array::unlock_in_guard(std::uint64_t k) {
  try {
    unlock(k);
  } catch (const std::exception&) {  // from the destructor of a guard: the exception that ends its scope says more
    if (std::uncaught_exceptions() == 0) throw;
  } catch (...) {  // a transport that is being torn down refuses, here and in the next call; a guard may not throw
  }
}

std::optional<NodeId> mutex_array::lost_with(std::uint64_t state, patience& waited, std::int64_t times) const {
  // Whoever has the lock may itself be waiting for an operation towards a node that does not answer.
  return waited.lost_with(mgr(), *this, state, times * (transport().retries_ps() + options_.patience_ps));
}

std::int64_t mutex_array::longest_rest_ps() const { return (transport().retries_ps() + options_.patience_ps) / 16; }

void mutex_array::draw(std::uint64_t k, Address drawn, Address serving_and_next, ack_key& key) {
  const word_at next = home_word(k, kNext);
  const word_at served = home_word(k, kServing);
  mgr().fetch_add(drawn, next.region, next.offset, share_of(my_node()), &key, {.fenced = false, .more = true});
  mgr().get(serving_and_next, served.region, served.offset, kServingAndNext, &key);
}

void mutex_array::give_back(std::uint64_t k, std::uint64_t drawn, Address answer, ack_key& key) {
  const word_at next = home_word(k, kNext);
  mgr().compare_swap(answer, next.region, next.offset, drawn + share_of(my_node()), drawn, &key, {.fenced = false});
}

void mutex_array::require_hope(std::uint64_t k, bool given_back, std::uint64_t state, patience& waited) const {
  // One that is not the latest can be given back once the later ones have been. Their owners began to wait later, and
  // lose patience after as long a time: hence three times as long, not once.
  if (const auto lost = lost_with(state, waited, given_back ? 1 : 3))
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(my_node()) + ": lock " + std::to_string(k) + " of '" + full_name() +
                              "' does not come free; node " + std::to_string(*lost) +
                              ", which does not answer, may have it",
                          *lost);
}

void mutex_array::give_up(local_lock& lock) {
  lock.hand_overs = 0;
  lock.handed_over = false;
  transport().flag_fetch_add(lock.serving, 1);
}

bool mutex_array::held(const local_lock& lock) const {
  return lock.holder.load(std::memory_order_relaxed) == transport().my_thread() + 1;
}

std::string mutex_array::caller() const {
  return "thread " + std::to_string(transport().my_thread()) + " of node " + std::to_string(my_node());
}

void mutex_array::require_held(std::uint64_t k, const local_lock& lock) const {
  if (!held(lock))
    throw ownership_error("lock " + std::to_string(k) + " of '" + full_name() + "' is not held by " + caller());
}

}  // namespace loco
