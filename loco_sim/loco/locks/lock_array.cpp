#include "loco_sim/loco/locks/lock_array.hpp"

#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/lock_words.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

using namespace lock_words;

namespace {
/// The options on which all nodes must agree, where they differ from the defaults.
std::string text_of(const mutex_options& options) {
  const mutex_options usual;
  std::string text;
  if (options.hand_overs_max != usual.hand_overs_max)
    text += ", at most " + std::to_string(options.hand_overs_max) + " hand-overs within a node";
  if (!options.fence) text += ", without fences";
  if (options.device_memory) text += ", in the NIC's memory";
  if (!options.fence_home) text += ", without fences of the home";
  if (options.kind == lock_class::weak) text += ", of the weak class";
  if (options.kind == lock_class::node)
    text += options.fenced_node ? ", to node " + std::to_string(*options.fenced_node) : ", to their homes' nodes";
  if (options.fault != lock_fault::none) text += ", with fault " + std::to_string(static_cast<int>(options.fault));
  if (options.patience_ps != usual.patience_ps) text += ", patience of " + std::to_string(options.patience_ps) + " ps";
  return text;
}
}  // namespace

lock_array::lock_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
                       mutex_options options)
    : channel(where, name, or_all(options.peers, where.num_nodes())), home_(home), count_(count), options_(options) {
  create();
}

std::uint64_t lock_array::home_bytes() const { return kPlaces + num_nodes() * kPlaceBytes; }

void lock_array::create() {
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

NodeId lock_array::home(std::uint64_t k) const { return home_ ? *home_ : static_cast<NodeId>(k % num_nodes()); }

lock_array::word_at lock_array::home_word(std::uint64_t k, std::uint64_t word) const {
  return {remote(words_, home(k)), (home_ ? k : k / num_nodes()) * home_bytes() + word};
}

/// At most one ticket per node is drawn and not served, because a node draws its next one after its release. So tickets
/// modulo nodes never collide. A sign may arrive later than that; nobody looks for it any more.
lock_array::word_at lock_array::name_word(std::uint64_t k, std::uint64_t drawn) const {
  return home_word(k, kPlaces + ticket_of(drawn) % num_nodes() * kPlaceBytes);
}

lock_array::word_at lock_array::sign_word(std::uint64_t k, std::uint64_t drawn) const {
  return home_word(k, kPlaces + ticket_of(drawn) % num_nodes() * kPlaceBytes + kSignInPlace);
}

/// A participating node that has not joined yet will do so soon: its set-up messages are in flight.
lock_array::word_at lock_array::seat_word(NodeId node, std::uint64_t k, std::uint64_t word) const {
  while (!reaches(seats_, node) && !lost(node)) transport().compute(kLookAgainPs);
  return {remote(seats_, node), k * kSeatBytes + word};
}

Address lock_array::my_seat(std::uint64_t k, std::uint64_t word) const {
  return local(seats_).base + k * kSeatBytes + word;
}

lock_array::local_lock& lock_array::mine(std::uint64_t k) {
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

std::optional<NodeId> lock_array::lost_with(std::uint64_t state, patience& waited, std::int64_t times) const {
  // The holder may itself be waiting for an operation towards a node that does not answer.
  return waited.lost_with(here(), *this, state, times * (transport().retries_ps() + options_.patience_ps));
}

std::int64_t lock_array::longest_rest_ps() const { return (transport().retries_ps() + options_.patience_ps) / 16; }

void lock_array::draw(std::uint64_t k, Address drawn, Address serving_and_next, ack_key& key) {
  const word_at next = home_word(k, kNext);
  const word_at served = home_word(k, kServing);
  const bool by_cpu = options_.fault == lock_fault::home_cas && my_node() == home(k) && !options_.device_memory;
  if (by_cpu || options_.fault == lock_fault::get_and_put) {
    by_cpu ? draw_by_home_cas(k, drawn) : draw_by_get_and_put(k, drawn);
    here().get(serving_and_next, served.region, served.offset, kServingAndNext, &key);
    return;
  }
  here().fetch_add(drawn, next.region, next.offset, share_of(my_node()), &key, {.fenced = false, .more = true});
  here().get(serving_and_next, served.region, served.offset, kServingAndNext, &key);
}

/// The fault: another node may draw the same ticket between the get and the put.
void lock_array::draw_by_get_and_put(std::uint64_t k, Address drawn) {
  const word_at next = home_word(k, kNext);
  ack_key key(here());
  mem_ref sum(here(), kWord);
  here().get(drawn, next.region, next.offset, kWord, &key);
  key.wait();
  sum.store(transport().load(drawn) + share_of(my_node()));
  here().put(sum.address(), next.region, next.offset, kWord, &key, {.fenced = false});
  key.wait();
}

/// The fault: a CPU's compare-and-swap is atomic with those of its host's CPUs, but not with the NIC's.
void lock_array::draw_by_home_cas(std::uint64_t k, Address drawn) {
  const Address next = local(words_).base + home_word(k, kNext).offset;
  std::uint64_t seen = transport().load(next);
  while (true) {
    const std::uint64_t old = transport().compare_swap_local(next, seen, seen + share_of(my_node()));
    if (old == seen) break;
    seen = old;
  }
  transport().store(drawn, seen);
}

void lock_array::give_back(std::uint64_t k, std::uint64_t drawn, Address answer, ack_key& key) {
  const word_at next = home_word(k, kNext);
  here().compare_swap(answer, next.region, next.offset, drawn + share_of(my_node()), drawn, &key, {.fenced = false});
}

void lock_array::require_hope(std::uint64_t k, bool given_back, std::uint64_t state, patience& waited) const {
  // Only the latest ticket can be returned. The owners of later tickets began to wait later and lose patience as much
  // later, so this waits three times as long for them.
  if (const auto lost = lost_with(state, waited, given_back ? 1 : 3))
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(my_node()) + ": lock " + std::to_string(k) + " of '" + full_name() +
                              "' does not come free; node " + std::to_string(*lost) +
                              ", which does not answer, may have it",
                          *lost);
}

void lock_array::give_up(local_lock& lock) {
  lock.hand_overs = 0;
  lock.handed_over = false;
  transport().flag_fetch_add(lock.serving, 1);
}

bool lock_array::held(const local_lock& lock) const {
  return lock.holder.load(std::memory_order_relaxed) == transport().my_thread() + 1;
}

std::string lock_array::caller() const {
  return "thread " + std::to_string(transport().my_thread()) + " of node " + std::to_string(my_node());
}

void lock_array::require_held(std::uint64_t k, const local_lock& lock) const {
  if (!held(lock))
    throw ownership_error("lock " + std::to_string(k) + " of '" + full_name() + "' is not held by " + caller());
}

}  // namespace loco
