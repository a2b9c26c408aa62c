#include "loco_sim/loco/store/kvstore.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "loco_sim/loco/store/kv_slot.hpp"
#include "probe/probe.hpp"

namespace loco {

using namespace kv_slot;

kvstore::kvstore(within where, std::string_view name, kv_options options)
    : channel(where, name, expect_num{where.num_nodes() - 1}),
      options_(options),
      index_(transport()),
      locks_(*this, "locks", options.locks,
             mutex_options{.hand_overs_max = options.hand_overs_max, .device_memory = options.device_locks}),
      tracker_(*this, "tracker", options.ring_bytes, index_, [this](const kv_change& change) { note(change); }) {
  if (options_.slots_per_node == 0) throw setup_error("key-value store '" + full_name() + "' has no slots");
  slots_ = symmetric_region("slots", bytes_of(options_.slots_per_node, kSlotBytes));
  own_slots_ = words_of(slots_);
  counters_.assign(options_.slots_per_node, 0);
  for (std::uint64_t slot = options_.slots_per_node; slot-- > 0;) free_.push_back(slot);
  join();
}

kvstore::~kvstore() = default;

std::uint64_t kvstore::take_slot() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    LOCO_PROBE(kv_store_full);
    throw size_error("key-value store '" + full_name() + "': node " + std::to_string(my_node()) +
                     " has no free slot of " + std::to_string(options_.slots_per_node));
  }
  const std::uint64_t slot = free_.back();
  free_.pop_back();
  ++counters_[slot];
  return slot;
}

void kvstore::fill_slot(const kv_location& where, std::uint64_t value, bool valid) {
  own_slot(where.slot, kSlotState) = state_of(where.counter, valid);
  own_slot(where.slot, kSlotValue) = value;
  own_slot(where.slot, kSlotSum) = sum_of(where.counter, value);
}

/// Frees this node's erased slots. A reader with a stale index finds another generation in the slot later.
void kvstore::note(const kv_change& change) {
  if (change.kind != kv_change::Kind::erased || change.where.node != my_node()) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(change.where.slot);
}

void kvstore::load(std::uint64_t count, const std::function<Entry(std::uint64_t)>& entry) {
  const bool used = std::ranges::any_of(counters_, [](std::uint64_t counter) { return counter != 0; });
  if (used || !index_.empty())
    throw std::logic_error("key-value store '" + full_name() + "' is loaded after it has been used, or twice");
  index_.reserve(std::min(count, options_.slots_per_node * num_nodes()));  // bounded: a larger count is refused below
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto [key, value] = entry(i);
    if (value == 0) throw std::invalid_argument("'" + full_name() + "': 0 is no value, it says that a key is absent");
    const kv_location where{static_cast<NodeId>(i % num_nodes()), i / num_nodes(), 1};
    if (where.slot >= options_.slots_per_node)
      throw size_error("key-value store '" + full_name() + "': " + std::to_string(count) + " entries in " +
                       std::to_string(options_.slots_per_node * num_nodes()) + " slots");
    if (!index_.load(key, where))
      throw std::invalid_argument("'" + full_name() + "': key " + std::to_string(key) + " is loaded twice");
    if (where.node != my_node()) continue;
    call_scope call(
        transport(),
        {.library = "kvstore", .method = "insert", .object = full_name(), .work_id = value, .argument = key});
    take_slot();  // slots are handed out in ascending order
    fill_slot(where, value, true);
    call.set_result(1);
  }
  transport().memory_fence();
}

void kvstore::keep(std::uint64_t lock) {
  {
    const std::lock_guard guard(mutex_);
    kept_.insert(lock);
    LOCO_PROBE(kv_lock_kept_for_ever);
    keeps_any_ = true;
  }
  transport().wake_all();  // wakes this node's threads that wait for the lock
}

bool kvstore::keeps(std::uint64_t lock) {
  if (!keeps_any_) return false;
  const std::lock_guard guard(mutex_);
  return kept_.contains(lock);
}

kv_operation& kvstore::mine() {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<kv_operation>& operation = waiting_[transport().my_thread()];
  if (!operation) operation = std::make_unique<kv_operation>(*this);
  return *operation;
}

namespace {
std::uint64_t wait_for(Transport& transport, kv_operation& operation, kv_operation::Kind kind, std::uint64_t key,
                       std::uint64_t value = 0) {
  operation.start(kind, key, value);
  while (!operation.poll()) transport.pause();
  return operation.result();
}
}  // namespace

std::optional<std::uint64_t> kvstore::lookup(std::uint64_t key) {
  const std::uint64_t value = wait_for(transport(), mine(), kv_operation::Kind::lookup, key);
  return value == 0 ? std::nullopt : std::optional(value);
}
bool kvstore::insert(std::uint64_t key, std::uint64_t value) {
  return wait_for(transport(), mine(), kv_operation::Kind::insert, key, value) != 0;
}
bool kvstore::update(std::uint64_t key, std::uint64_t value) {
  return wait_for(transport(), mine(), kv_operation::Kind::update, key, value) != 0;
}
bool kvstore::erase(std::uint64_t key) { return wait_for(transport(), mine(), kv_operation::Kind::erase, key) != 0; }

kv_window::kv_window(kvstore& store, std::uint32_t size) : transport_(store.transport()) {
  if (size == 0) throw setup_error("'" + store.full_name() + "': a window of no operations");
  for (std::uint32_t i = 0; i < size; ++i) operations_.push_back(std::make_unique<kv_operation>(store, i + 1));
}

kv_window::~kv_window() {
  try {
    for (bool busy = true; busy;) {
      busy = false;
      for (const auto& operation : operations_) {
        try {
          busy |= !operation->finished() && !operation->poll();
        } catch (const std::exception&) {  // an operation that throws is finished, too
        }
      }
      if (busy) transport_.pause();
    }
  } catch (...) {  // a transport that is being torn down throws
  }
}

kv_operation* kv_window::idle() {
  for (const auto& operation : operations_)
    if (operation->finished()) return operation.get();
  return nullptr;
}

}  // namespace loco
