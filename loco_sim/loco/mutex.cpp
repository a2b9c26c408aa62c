#include "loco_sim/loco/mutex.hpp"

#include <exception>
#include <string>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/bounds.hpp"
#include "loco_sim/loco/call_scope.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/fence.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mem_ref.hpp"

namespace loco {

namespace {

// Where answers of the home go.
constexpr std::uint64_t kTicket = 0, kServing = kWord, kAnswers = 2 * kWord;

}  // namespace

mutex_array::mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options)
    : mutex_array(where, name, std::nullopt, count, options) {}

mutex_array::mutex_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
                         mutex_options options)
    : channel(where, name, or_all(options.peers, where.num_nodes())), home_(home), count_(count), options_(options) {
  create();
}

void mutex_array::create() {
  if (count_ == 0) throw setup_error("'" + full_name() + "': an array of no locks");
  const std::uint64_t nodes = home_ ? 1 : num_nodes();
  const std::uint64_t bytes = bytes_of((count_ - 1) / nodes + 1, 2 * kWord);
  const Where where = options_.device_memory ? Where::device : Where::host;
  if (!home_)
    words_ = symmetric_region("words", bytes, where);
  else if (*home_ == my_node())
    words_ = create_region("words", bytes, where);
  else
    words_ = expect_region(*home_, "words", bytes);
  releases_ = create_region("releases", bytes_of(count_, kWord));
  locks_ = std::vector<std::atomic<local_lock*>>(count_);
  set_terms(std::to_string(count_) + " lock(s), " + (home_ ? home_text(*home_) : "striped over the nodes"));
  join();
}

NodeId mutex_array::home(std::uint64_t k) const { return home_ ? *home_ : static_cast<NodeId>(k % num_nodes()); }

mutex_array::place mutex_array::place_of(std::uint64_t k) const {
  const std::uint64_t slot = home_ ? k : k / num_nodes();
  return {remote(words_, home(k)), slot * 2 * kWord, slot * 2 * kWord + kWord};
}

mutex_array::local_lock& mutex_array::mine(std::uint64_t k) {
  if (k >= count_)
    throw ownership_error("'" + full_name() + "' has " + std::to_string(count_) + " locks, no lock " +
                          std::to_string(k));
  if (local_lock* const lock = locks_[k].load(std::memory_order_acquire)) return *lock;
  const std::lock_guard guard(mutex_);
  if (local_lock* const lock = locks_[k].load(std::memory_order_relaxed)) return *lock;
  local_lock& made = made_.emplace_back();
  made.next = transport().make_flag();
  made.serving = transport().make_flag();
  locks_[k].store(&made, std::memory_order_release);
  return made;
}

void mutex_array::lock(std::uint64_t k) {
  local_lock& lock = mine(k);
  if (held(lock))  // it would wait for itself
    throw ownership_error("lock " + std::to_string(k) + " of '" + full_name() + "' is held already by " + caller());
  const call_scope call(transport(), {.library = "lock", .method = "acquire", .object = full_name(), .argument = k});
  const std::uint64_t turn = transport().flag_fetch_add(lock.next, 1);
  while (transport().flag_peek(lock.serving) != turn) transport().pause();
  lock.turn = turn;
  if (!lock.handed_over) {
    try {
      take_ticket(k, lock);
    } catch (const std::exception&) {  // a failed operation, or one that this transport does not have
      give_up(lock);
      throw;
    }
  }
  lock.holder.store(transport().my_thread() + 1, std::memory_order_relaxed);
}

std::optional<NodeId> mutex_array::lost_with(std::uint64_t serving, patience& waited, std::int64_t times) {
  // Whoever has the lock may itself be waiting for an operation towards a node that does not answer.
  return waited.lost_with(mgr(), serving, times * (transport().retries_ps() + options_.patience_ps));
}

void mutex_array::draw(std::uint64_t k, const mem_ref& answers, ack_key& key) {
  const place at = place_of(k);
  mgr().fetch_add(answers.address() + kTicket, at.region, at.next, 1, &key, {.fenced = false, .more = true});
  look(k, answers, key);
}

void mutex_array::look(std::uint64_t k, const mem_ref& answers, ack_key& key) {
  const place at = place_of(k);
  mgr().get(answers.address() + kServing, at.region, at.serving, kWord, &key);
}

/// Gives a ticket back if it is the latest one: whoever draws next gets it again. With later ones drawn it stays drawn,
/// for nobody would pass on its turn.
void mutex_array::give_back(std::uint64_t k, std::uint64_t ticket, const mem_ref& answers, ack_key& key) {
  const place at = place_of(k);
  mgr().compare_swap(answers.address() + kTicket, at.region, at.next, ticket + 1, ticket, &key);
}

void mutex_array::require_hope(std::uint64_t k, bool given_back, std::uint64_t serving, patience& waited) {
  // One that is not the latest can be given back once the later ones have been. Their owners began to wait later, and
  // lose patience after as long a time: hence three times as long, not once.
  if (const auto lost = lost_with(serving, waited, given_back ? 1 : 3))
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

void mutex_array::take_ticket(std::uint64_t k, local_lock& lock) {
  mem_ref answers(mgr(), kAnswers);
  ack_key key(mgr());
  std::int64_t asked = transport().now_ps();
  draw(k, answers, key);
  key.wait();
  lock.ticket = answers.load(kTicket);
  patience waited;
  while (true) {
    const std::int64_t round_trip = transport().now_ps() - asked;
    const std::uint64_t serving = answers.load(kServing);
    const std::uint64_t before_me = lock.ticket - serving;
    if (before_me == 0) return;
    if (lost_with(serving, waited, 1)) {
      give_back(k, lock.ticket, answers, key);
      key.wait();
      require_hope(k, answers.load(kTicket) == lock.ticket + 1, serving, waited);
    }
    if (before_me > 1) transport().compute(static_cast<std::int64_t>(before_me - 1) * round_trip);
    asked = transport().now_ps();
    look(k, answers, key);
    key.wait();
  }
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

void mutex_array::let_go(std::uint64_t k, local_lock& lock, bool fence) {
  lock.holder.store(0, std::memory_order_relaxed);
  const bool wanted_here = transport().flag_load(lock.next) > lock.turn + 1;
  const bool may_hand_over = wanted_here && lock.hand_overs < options_.hand_overs_max;
  try {  // what was written to the nodes that answer is there even if others do not
    if (fence) write_fence(mgr(), may_hand_over ? std::nullopt : std::optional(home(k)));
  } catch (const operation_error& error) {
    mgr().tell_later(error);
  }
  // Once a node does not answer, others take a lock for lost whose tickets do not go on.
  lock.handed_over = may_hand_over && !mgr().any_failed();
  if (lock.handed_over) {
    ++lock.hand_overs;
    transport().memory_fence();  // the next thread will not look into this one's store buffer
  } else {
    lock.hand_overs = 0;
    serve_next(k, lock.ticket);
  }
  if (wanted_here)
    transport().flag_fetch_add(lock.serving, 1);
  else
    transport().flag_add_early(lock.serving, 1);  // nobody waits for it
}

void mutex_array::unlock(std::uint64_t k) {
  local_lock& lock = mine(k);
  require_held(k, lock);  // whoever does not hold it makes no call
  const call_scope call(transport(), {.library = "lock", .method = "release", .object = full_name(), .argument = k});
  let_go(k, lock, options_.fence);
}

void mutex::unlock() {
  try {
    mutex_array::unlock(0);
  } catch (const std::exception&) {  // from the destructor of a guard: the exception that ends its scope says more
    if (std::uncaught_exceptions() == 0) throw;
  } catch (...) {  // a transport that is being torn down refuses, here and in the next call; a guard may not throw
  }
}

void mutex_array::release(std::uint64_t k, std::uint32_t lane) {
  local_lock& lock = mine(k);
  require_held(k, lock);
  const call_scope call(transport(),
                        {.library = "lock", .method = "release", .object = full_name(), .argument = k, .lane = lane});
  let_go(k, lock, false);
}

/// The source of the put is not in use any more: nobody gets the lock again before the put of its last release is done.
void mutex_array::serve_next(std::uint64_t k, std::uint64_t ticket) {
  const place at = place_of(k);
  const Address source = local(releases_).base + k * kWord;
  transport().store(source, ticket + 1);
  mgr().put(source, at.region, at.serving, kWord, nullptr, {.fenced = false});
}

// --- acquisition -----------------------------------------------------------------------------------------------------

acquisition::acquisition(mutex_array& locks) : locks_(locks), answers_(locks.mgr(), kAnswers), key_(locks.mgr()) {}

void acquisition::start(std::uint64_t k, std::uint32_t lane) {
  lock_ = k;
  lane_ = lane;
  Transport& transport = locks_.transport();
  transport.begin_call(
      {.library = "lock", .method = "acquire", .object = locks_.full_name(), .argument = k, .lane = lane});
  local_ = &locks_.mine(k);
  turn_ = transport.flag_add_early(local_->next, 1);
  patience_ = {};
  step_ = Step::queue;
}

bool acquisition::poll() {
  try {
    return advance();
  } catch (const std::exception&) {  // as in mutex_array::lock
    key_.forget();
    step_ = Step::held;
    locks_.give_up(*local_);
    locks_.transport().abandon_call(lane_);
    throw;
  }
}

bool acquisition::advance() {
  mutex_array::local_lock& lock = *local_;
  if (step_ == Step::queue) {
    if (locks_.transport().flag_peek(lock.serving) != turn_) return false;
    lock.turn = turn_;
    if (lock.handed_over) return got();
    locks_.draw(lock_, answers_, key_);
    step_ = Step::draw;
  }
  while (true) {
    if (!key_.poll()) return false;
    if (step_ == Step::giving_back) {
      locks_.require_hope(lock_, answers_.load(kTicket) == lock.ticket + 1, serving_, patience_);
    } else {
      if (step_ == Step::draw) lock.ticket = answers_.load(kTicket);
      serving_ = answers_.load(kServing);
      if (lock.ticket == serving_) return got();
      if (locks_.lost_with(serving_, patience_, 1)) {
        locks_.give_back(lock_, lock.ticket, answers_, key_);
        step_ = Step::giving_back;
        continue;
      }
    }
    locks_.look(lock_, answers_, key_);
    step_ = Step::look;
  }
}

bool acquisition::got() {
  step_ = Step::held;
  local_->holder.store(locks_.transport().my_thread() + 1, std::memory_order_relaxed);
  locks_.transport().end_call(0, lane_);
  return true;
}

}  // namespace loco
