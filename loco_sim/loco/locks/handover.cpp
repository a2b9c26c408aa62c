#include "loco_sim/loco/locks/handover.hpp"

#include <optional>
#include <span>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/lock_words.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "probe/probe.hpp"

namespace loco {

using namespace lock_words;

namespace {
// Offsets in answers_.
constexpr std::uint64_t kNameBehind = 0, kTakenFrom = kWord, kAnswerBytes = 2 * kWord;

std::uint64_t class_in_trace(lock_class kind) {
  if (kind == lock_class::weak) return trace::kLockWeak;
  return kind == lock_class::node ? trace::kLockToNode : trace::kLockStrong;
}
}  // namespace

handover::handover(lock_array& locks, bool fences)
    : locks_(locks), fences_(fences), answers_(locks.here(), kAnswerBytes), key_(locks.here()) {}

std::uint64_t handover::link() { return locks_.transport().load(locks_.my_seat(lock_, kLink)); }

void handover::prepare(std::uint64_t k) {
  lock_ = k;
  local_ = &locks_.mine(k);
  if (!local_->contended || asked_ || to_next_thread() || follows(link(), local_->drawn)) return;
  ask_name();
  asked_ = true;
}

/// True if a thread of this node waits and may have the lock next.
bool handover::to_next_thread() {
  wanted_here_ = locks_.transport().flag_load(local_->next) > local_->turn + 1;
  return wanted_here_ && local_->hand_overs < locks_.options_.hand_overs_max;
}

void handover::ask_name() {
  const lock_array::word_at at = locks_.name_word(lock_, local_->drawn + 1);
  locks_.here().get(answers_.address() + kNameBehind, at.region, at.offset, kWord, &key_);
}

void handover::start(std::uint64_t k, std::uint32_t lane) {
  lock_ = k;
  lane_ = lane;
  local_ = &locks_.mine(k);
  locks_.require_held(k, *local_);
  const bool to_node = locks_.options_.kind == lock_class::node;
  const NodeId node = locks_.fenced_node(k);
  locks_.transport().begin_call({.library = "lock",
                                 .method = "release",
                                 .object = locks_.full_name(),
                                 .work_id = class_in_trace(locks_.options_.kind),
                                 .argument = k,
                                 .nodes = std::span(&node, to_node ? 1 : 0),
                                 .lane = lane});
  local_->holder.store(0, std::memory_order_relaxed);
  const bool may_hand_over = to_next_thread();
  if (fences_ && !may_hand_over) prepare(k);
  if (fences_early()) fence_writes(may_hand_over ? std::nullopt : likely_told());
  // Once a node does not answer, waiters on other nodes assume that a lock is lost if its tickets do not advance. So
  // the threads of a node then pass it on only with a new ticket.
  local_->handed_over = may_hand_over && !locks_.any_lost();
  if (local_->handed_over)
    hand_to_next_thread();
  else
    pass_on();
}

bool handover::poll() {
  while (step_ != Step::none) {
    try {
      if (!key_.poll()) return false;
      after_answer();
    } catch (const operation_error& error) {  // a waiting thread will ask the home
      LOCO_PROBE(lock_handover_fails);
      key_.forget();
      const Step failed = step_;
      if (failed != Step::late_answer) locks_.here().tell_later(error);
      step_ = Step::none;
      asked_ = false;
      if (failed == Step::next_name)
        set_free();
      else if (failed != Step::late_answer)
        finish();
    }
  }
  return true;
}

/// A correct lock fences before its release; the fault does so afterwards.
bool handover::fences_early() const { return fences_ && locks_.options_.fault != lock_fault::release_before_data; }

/// Even if one node does not answer, the writes to all others must be in memory before the release.
void handover::fence_writes(std::optional<NodeId> except) {
  try {
    fence_class(except);
  } catch (const operation_error& error) {
    LOCO_PROBE(fence_of_a_lock_fails);
    fence_who_answers();
    locks_.here().tell_later(error);
  }
}

/// Fences what the lock's class promises, except for `except`, where the queue pair orders the writes before the
/// release.
void handover::fence_class(std::optional<NodeId> except) {
  networked_node& mgr = locks_.here();
  const bool home_too = locks_.options_.fault != lock_fault::no_home_fence;
  if (locks_.options_.kind == lock_class::strong && home_too) return write_fence(mgr, except);
  if (locks_.options_.kind == lock_class::weak) return;
  std::vector<NodeId> nodes = mgr.unplaced();
  if (locks_.options_.kind == lock_class::node)
    std::erase_if(nodes, [&](NodeId n) { return n != locks_.fenced_node(lock_) || n == except; });
  if (!home_too) std::erase(nodes, locks_.home(lock_));
  if (!nodes.empty()) global_fence(mgr, nodes);
}

/// A fence stops at the first node that does not answer, without waiting for the others. Errors are reported at the
/// end, because an earlier report would make the next fence throw.
void handover::fence_who_answers() {
  networked_node& mgr = locks_.here();
  std::vector<operation_error> failures;
  for (NodeId node = 0; node < mgr.num_nodes(); ++node) {
    if (mgr.failed(node)) continue;
    if (node == mgr.my_node()) mgr.used_loopback() = true;
    try {
      global_fence(mgr, node);
    } catch (const operation_error& error) {
      failures.push_back(error);
    }
  }
  for (const operation_error& error : failures) mgr.tell_later(error);
}

/// The node that the lock will probably be passed to, if any. The release goes there on the queue pair that carried
/// this thread's writes, so that node needs no fence. The other nodes are fenced while the name of the next owner is
/// read from the home.
std::optional<NodeId> handover::likely_told() {
  const bool two_paths = locks_.options_.device_memory && locks_.options_.fence_home;
  if (!local_->contended) return two_paths ? std::nullopt : std::optional(locks_.home(lock_));
  const std::uint64_t name = link();
  return follows(name, local_->drawn) ? std::optional(node_of(name)) : std::nullopt;
}

void handover::hand_to_next_thread() {
  ++local_->hand_overs;
  locks_.transport().memory_fence();  // the next thread cannot see this one's store buffer
  finish();
}

void handover::pass_on() {
  local_->hand_overs = 0;
  if (!local_->contended) return set_free();
  if (const std::uint64_t name = link(); follows(name, local_->drawn)) return tell(node_of(name));
  if (!asked_) ask_name();
  asked_ = false;
  step_ = Step::next_name;
}

void handover::after_answer() {
  const std::uint64_t name = answers_.load(kNameBehind);
  switch (step_) {
    case Step::next_name:
      return follows(name, local_->drawn) ? tell(node_of(name)) : set_free();
    case Step::name_behind:
      return follows(name, local_->drawn) ? take_name(name) : finish();
    case Step::taking:
      if (answers_.load(kTakenFrom) == name_) return tell(node_of(name_));
      LOCO_PROBE(lock_waiter_has_taken_its_name_back);
      return finish();
    default:
      asked_ = false;
      step_ = Step::none;
  }
}

/// Looks at the seat once more: a waiter that wrote its name there and read `released` too early relies on it.
void handover::set_free() {
  write_released();
  locks_.transport().memory_fence();
  if (const std::uint64_t name = link(); follows(name, local_->drawn)) {
    LOCO_PROBE(lock_waiter_comes_as_it_is_set_free);
    return tell(node_of(name));
  }
  put_served();
}

void handover::write_released() {
  locks_.transport().store(locks_.my_seat(lock_, kReleased), local_->drawn + share_of(locks_.my_node()));
}

/// The source stays unchanged, because nobody gets the lock again before this put is done. Its failure is not reported
/// to this node: a waiter learns of it from the home, or by losing patience.
void handover::put_released(lock_array::word_at at, bool more) {
  locks_.here().put(locks_.my_seat(lock_, kReleased), at.region, at.offset, kWord, nullptr,
                    {.fenced = false, .more = more, .quiet = true});
}

void handover::put_served() {
  put_released(locks_.home_word(lock_, kServing), local_->contended);
  if (!local_->contended) return finish();
  ask_name();
  step_ = Step::name_behind;
}

void handover::take_name(std::uint64_t name) {
  name_ = name;
  const lock_array::word_at at = locks_.name_word(lock_, local_->drawn + 1);
  locks_.here().compare_swap(answers_.address() + kTakenFrom, at.region, at.offset, name, 0, &key_, {.fenced = false});
  step_ = Step::taking;
}

/// A waiter with its name on the seat may read `released` as well, and then checks both the served ticket and its turn.
void handover::tell(NodeId node) {
  if (fences_early()) fence_writes(node);
  const lock_array::word_at turn = locks_.seat_word(node, lock_, kTurn);
  write_released();
  put_released(turn, false);
  finish();
}

void handover::finish() {
  Transport& transport = locks_.transport();
  if (wanted_here_)
    transport.flag_fetch_add(local_->serving, 1);
  else
    transport.flag_add_early(local_->serving, 1);  // nobody waits for it
  if (fences_ && !fences_early()) fence_writes({});
  transport.end_call(0, lane_);
  step_ = asked_ ? Step::late_answer : Step::none;
}

}  // namespace loco
