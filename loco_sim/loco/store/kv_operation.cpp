// One operation on the key-value store: a state machine that advances as answers arrive.
#include <array>
#include <stdexcept>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "loco_sim/loco/store/city_hash.hpp"
#include "loco_sim/loco/store/kv_slot.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "probe/probe.hpp"

namespace loco {

using namespace kv_slot;

namespace {
/// Layout of an operation's block.
constexpr std::uint64_t kLanding = 4 * kWord;
constexpr std::uint64_t kBlockBytes = 5 * kWord;
}  // namespace

kv_operation::kv_operation(kvstore& store, std::uint32_t lane)
    : store_(store),
      transport_(store.transport()),
      lane_(lane),
      acquisition_(store.locks_),
      handover_(store.locks_, false),
      ack_(store.here()),
      block_(store.here(), kBlockBytes),
      announced_(store.transport().make_flag()) {}

kv_operation::~kv_operation() {
  if (finished()) transport_.release_flag(announced_);  // otherwise the tracker may still set it
}

CallInfo kv_operation::call_of(Kind kind, std::string_view object, std::uint64_t key, std::uint64_t value,
                               std::uint32_t lane) {
  constexpr std::array<std::string_view, 4> kMethods = {"lookup", "insert", "update", "delete"};
  return {.library = "kvstore",
          .method = kMethods.at(static_cast<std::size_t>(kind)),
          .object = object,
          .work_id = value,
          .argument = key,
          .lane = lane};
}

void kv_operation::start(Kind kind, std::uint64_t key, std::uint64_t value) {
  if (!finished()) throw std::logic_error("key-value store: an operation is started before its last one is finished");
  const bool writes = kind == Kind::insert || kind == Kind::update;
  if (writes && value == 0) throw std::invalid_argument("key-value store: the value 0 stands for none");
  transport_.begin_call(call_of(kind, store_.full_name(), key, value, lane_));
  kind_ = kind;
  for_key_ = key;
  value_ = value;
  if (kind == Kind::lookup) {
    step_ = Step::search;
  } else {
    acquisition_.start(lock_index(), lane_);
    step_ = Step::lock;
  }
}

bool kv_operation::poll() {
  // Repeats until the step has read what it waits for in this call, so that the thread may then pause.
  Step before = Step::idle;
  try {
    do {
      before = step_;
      advance();
    } while (step_ == Step::search || (step_ != before && step_ != Step::idle));
  } catch (const std::exception&) {
    fail();
  }
  if (finished() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return finished();
}

/// Ends an operation because a node does not answer or there is no free slot. A lock already held is released, because
/// each put has either arrived or never will. After a failed announcement the lock is kept: some indices have the
/// change and others do not, and nobody would tell these.
void kv_operation::fail() {
  const bool in_announcement = step_ == Step::announce;
  failure_ = std::current_exception();
  ack_.forget();
  if (in_announcement) {
    LOCO_PROBE(kv_announcement_fails);
    store_.keep(lock_index());
    locked_ = false;
  }
  if (locked_) {
    LOCO_PROBE(kv_operation_fails_under_its_lock);
    return unlock();
  }
  step_ = Step::idle;
  transport_.abandon_call(lane_);
}

void kv_operation::unlock() {
  locked_ = false;
  handover_.start(lock_index(), lane_);
  step_ = Step::unlock;
  if (handover_.poll()) unlocked();
}

void kv_operation::unlocked() {
  if (!failure_) return finish(result_);
  step_ = Step::idle;
  transport_.abandon_call(lane_);
}

std::uint64_t kv_operation::lock_index() const { return city_hash(for_key_) % store_.locks_.size(); }

void kv_operation::advance() {
  switch (step_) {
    case Step::idle:
      break;
    case Step::search:
      search();
      break;
    case Step::read:
      if (ack_.poll()) {
        const std::uint64_t state =
            block_.load(kSlotState * kWord);  // one by one: arguments are evaluated in any order
        const std::uint64_t value = block_.load(kSlotValue * kWord);
        look_at(state, value, block_.load(kSlotSum * kWord));
      }
      break;
    case Step::lock:
      locked_ = acquisition_.poll();
      if (locked_)
        change();
      else if (store_.keeps(lock_index()))
        store_.tracker_.require_member();
      break;
    case Step::inspect:
      if (ack_.poll()) inspected(block_.load(kSlotState * kWord));
      break;
    case Step::ask:
      asked();
      break;
    case Step::place:
      if (ack_.poll()) placed();
      break;
    case Step::announce:
      if (transport_.flag_peek(announced_) != 0) announced();
      break;
    case Step::unlock:
      if (handover_.poll()) unlocked();
      break;
  }
}

void kv_operation::search() {
  const auto found = store_.index_.find(for_key_);
  if (!found) return absent();
  where_ = *found;
  if (is_mine()) {
    const std::uint64_t state = store_.own_slot(where_.slot, kSlotState);
    const std::uint64_t value = store_.own_slot(where_.slot, kSlotValue);
    return look_at(state, value, store_.own_slot(where_.slot, kSlotSum));
  }
  store_.here().get(block_.address(), store_.remote(store_.slots_, where_.node), kvstore::slot_offset(where_.slot),
                    3 * kWord, &ack_);
  step_ = Step::read;
}

void kv_operation::look_at(std::uint64_t state, std::uint64_t value, std::uint64_t sum) {
  if (sum != sum_of(state >> 1U, value)) {  // torn: start again with the index
    LOCO_PROBE(kv_value_torn);
    ++store_.torn_reads_;
    step_ = Step::search;
    return;
  }
  if (state != state_of(where_.counter, true)) {
    LOCO_PROBE(kv_slot_of_another_key);
    return absent();
  }
  finish(value);
}

/// Holding the lock, looks up whether the key is present.
void kv_operation::change() {
  store_.tracker_.require_member();
  const auto found = store_.index_.find(for_key_);
  if (!found) return absent();
  where_ = *found;
  if (store_.tracker_.asks()) return inspect();
  present();
}

void kv_operation::inspect() {
  if (is_mine()) return inspected(store_.own_slot(where_.slot, kSlotState));
  store_.here().get(block_.address() + kSlotState * kWord, store_.remote(store_.slots_, where_.node),
                    kvstore::slot_offset(where_.slot) + kSlotState * kWord, kWord, &ack_);
  step_ = Step::inspect;
}

void kv_operation::inspected(std::uint64_t state) {
  if (state == state_of(where_.counter, true)) return present();
  absent();
}

void kv_operation::present() {
  if (kind_ == Kind::insert) return unlock_and_finish(0);
  if (kind_ == Kind::update) return begin_update();
  begin_erase();
}

void kv_operation::absent() {
  if (!store_.tracker_.asks()) return absent_indeed();
  store_.tracker_.require_member();
  ask();
}

void kv_operation::ask() {
  const kv_tracker& tracker = store_.tracker_;
  asked_ = tracker.to_ask();
  if (!answers_) answers_.emplace(store_.here(), tracker.others_asked() * kWord);
  for (std::size_t i = 0; i < asked_.size(); ++i)
    store_.here().get(answers_->address() + i * kWord, asked_[i], tracker.expelled_offset(), kWord, &ack_);
  step_ = Step::ask;
}

void kv_operation::asked() {
  try {
    if (!ack_.poll()) return;
  } catch (const operation_error& error) {
    if (!store_.lost(error.peer())) throw;
    LOCO_PROBE(kv_asks_another_node);
    ack_.forget();
    return ask();  // tries other nodes, if there are enough
  }
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (answers_->load(i * kWord) != 0) {
      LOCO_PROBE(kv_node_learns_that_it_is_expelled);
      store_.tracker_.note_expelled(asked_[i].node);
    }
  store_.tracker_.require_member();
  absent_indeed();
}

void kv_operation::absent_indeed() {
  if (kind_ == Kind::lookup) return finish(0);
  if (kind_ == Kind::insert) return begin_insert();
  unlock_and_finish(0);
}

void kv_operation::begin_insert() {
  where_ = {store_.my_node(), store_.take_slot(), 0};
  where_.counter = store_.counters_[where_.slot];
  store_.fill_slot(where_, value_, false);
  transport_.memory_fence();
  store_.tracker_.announce({kv_change::Kind::inserted, for_key_, where_}, announced_);
  step_ = Step::announce;
}

void kv_operation::begin_update() {
  if (is_mine()) {
    store_.fill_slot(where_, value_, true);
    transport_.memory_fence();
    return unlock_and_finish(1);
  }
  block_.store(value_, kSlotValue * kWord);
  block_.store(sum_of(where_.counter, value_), kSlotSum * kWord);
  put_and_fence(kSlotValue, 2, store_.options_.fence);
}

void kv_operation::begin_erase() {
  if (is_mine()) {
    store_.own_slot(where_.slot, kSlotState) = state_of(where_.counter, false);
    transport_.memory_fence();
    return placed();
  }
  block_.store(state_of(where_.counter, false), kSlotState * kWord);
  put_and_fence(kSlotState, 1, true);
}

/// The fence's read pushes the put, because both use this thread's queue pair for that node.
void kv_operation::put_and_fence(std::uint64_t first, std::uint64_t words, bool fence) {
  networked_node& mgr = store_.here();
  mgr.put(block_.address() + first * kWord, store_.remote(store_.slots_, where_.node),
          kvstore::slot_offset(where_.slot) + first * kWord, words * kWord, &ack_);
  if (fence) mgr.get(block_.address() + kLanding, mgr.fence_location(where_.node), 0, kWord, &ack_);
  handover_.prepare(lock_index());
  step_ = Step::place;
}

void kv_operation::placed() {
  if (kind_ == Kind::update) return unlock_and_finish(1);
  store_.tracker_.announce({kv_change::Kind::erased, for_key_, where_}, announced_);
  step_ = Step::announce;
}

void kv_operation::announced() {
  const bool refused = (transport_.flag_fetch_and(announced_, 0) & kv_tracker::kRefused) != 0;
  if (refused) {
    LOCO_PROBE(kv_change_refused);
    store_.tracker_.require_member();
  }
  if (kind_ == Kind::insert) {
    store_.own_slot(where_.slot, kSlotState) = state_of(where_.counter, true);
    transport_.memory_fence();
  }
  unlock_and_finish(1);
}

void kv_operation::unlock_and_finish(std::uint64_t result) {
  result_ = result;
  unlock();
}

void kv_operation::finish(std::uint64_t result) {
  result_ = result;
  step_ = Step::idle;
  transport_.end_call(result, lane_);
}

}  // namespace loco
