#include "loco_sim/loco/locks/mutex.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/acquisition.hpp"
#include "loco_sim/loco/locks/handover.hpp"
#include "loco_sim/loco/locks/lock_words.hpp"
#include "loco_sim/loco/memory/checksum.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

using namespace lock_words;

mutex_array::mutex_array(within where, std::string_view name, std::uint64_t count, mutex_options options)
    : mutex_array(where, name, std::nullopt, count, options) {}

void mutex_array::lock(std::uint64_t k) {
  if (held(mine(k)))  // it would deadlock with itself
    throw ownership_error("lock " + std::to_string(k) + " of '" + full_name() + "' is held already by " + caller());
  rest_before_trying_again();
  acquisition attempt(*this, acquisition::Rests::yes);
  attempt.start(k, 0);
  while (!attempt.poll()) transport().pause();
}

bool mutex_array::try_lock(std::uint64_t k) {
  rest_before_trying_again();
  const std::int64_t begin = transport().now_ps();
  const bool taken = take_if_free(k);
  thread_records::backing_off& tried = here().tried_locks();
  tried.refusals = taken ? 0 : tried.refusals + 1;
  tried.took_ps = transport().now_ps() - begin;
  tried.refused = !taken;
  return taken;
}

void mutex_array::rest_before_trying_again() {
  thread_records::backing_off& tried = here().tried_locks();
  tried.refused = false;
  if (!std::exchange(tried.let_go, false)) return;
  constexpr std::uint32_t kDoublings = 6;
  constexpr std::int64_t kLeast = 1000;
  const std::uint64_t window = static_cast<std::uint64_t>(std::max(tried.took_ps, kLeast))
                               << std::min(tried.refusals, kDoublings);
  const std::array<std::uint64_t, 3> who{my_node(), transport().my_thread(), tried.refusals};
  transport().compute(static_cast<std::int64_t>(checksum(who) % window));
}

bool mutex_array::take_if_free(std::uint64_t k) {
  local_lock& local = mine(k);
  Transport& t = transport();
  // First among this node's threads: the local ticket is served at once only if none of them has the lock or waits.
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

/// Draws the served ticket if nobody has drawn it, which also proves that it is still the served one.
bool mutex_array::draw_if_free(std::uint64_t k, local_lock& local) {
  mem_ref answers(here(), kServingAndNext + kWord);
  ack_key key(here());
  const word_at served = home_word(k, kServing), next = home_word(k, kNext);
  here().get(answers.address(), served.region, served.offset, kServingAndNext, &key);
  key.wait();
  const std::uint64_t drawn = answers.load(0);
  if (answers.load(kWord) != drawn) return false;
  here().compare_swap(answers.address() + kServingAndNext, next.region, next.offset, drawn, drawn + share_of(my_node()),
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
  require_held(k, mine(k));  // throws before the call is traced
  handover passing(*this, options().fence);
  passing.start(k, 0);
  while (!passing.poll()) transport().pause();
  thread_records::backing_off& tried = here().tried_locks();
  tried.let_go |= std::exchange(tried.refused, false);
}

void mutex_array::unlock_in_guard(std::uint64_t k) {
  try {
    unlock(k);
  } catch (const std::exception&) {  // in a guard's destructor an exception in flight matters more
    if (std::uncaught_exceptions() == 0) throw;
  } catch (...) {  // a transport that is being torn down throws in every call, and a guard must not throw
  }
}

}  // namespace loco
