#include "loco_sim/baselines/tree_operation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"

namespace loco::baselines {

namespace {
// Layout of an operation's block after the node.
constexpr std::uint64_t kAnswer = tree_node::kBytes;
constexpr std::uint64_t kZero = kAnswer + kWord;
constexpr std::uint64_t kLanding = kZero + kWord;
constexpr std::uint64_t kBlockBytes = kLanding + kWord;
constexpr std::uint64_t kTaken = 1;  ///< value of a lock word that is held
}  // namespace

tree_operation::tree_operation(tree_store& store, std::uint32_t lane)
    : store_(store), transport_(store.transport()), lane_(lane), ack_(store.mgr()), block_(store.mgr(), kBlockBytes) {
  block_.store(0, kZero);
}

void tree_operation::start(Kind kind, std::uint64_t key, std::uint64_t value) {
  if (!finished()) throw std::logic_error("tree: an operation is started before its last one is finished");
  transport_.begin_call(kv_operation::call_of(kind, store_.full_name(), key, value, lane_));
  kind_ = kind;
  key_ = wanted_ = key;
  value_ = value;
  level_ = 0;
  seek();
}

bool tree_operation::poll() {
  Step before = Step::idle;
  try {
    do {
      before = step_;
      advance();
    } while (step_ != before && step_ != Step::idle);
  } catch (const std::exception&) {  // a node does not answer or has no room; as in Sherman, its locks stay held
    step_ = Step::idle;
    ack_.forget();
    transport_.abandon_call(lane_);
    throw;
  }
  return finished();
}

void tree_operation::advance() {
  if (step_ == Step::idle) return;
  if (step_ == Step::queue) return take_turn();
  if (!ack_.poll()) return;
  switch (step_) {
    case Step::search:
      return searched();
    case Step::lock:
      return locked();
    case Step::locked_read:
      return change_node();
    case Step::write:
      return written();
    case Step::read_root:
      return compare_root();
    case Step::fill_root:
      return fill_root();
    case Step::swap_root:
      return swapped_root();
    case Step::idle:
    case Step::queue:
      break;
  }
}

void tree_operation::finish(std::uint64_t result) {
  result_ = result;
  step_ = Step::idle;
  transport_.end_call(result, lane_);
}

// --- the way down ----------------------------------------------------------------------------------------------------

void tree_operation::seek() {
  const std::optional<tree_place> known = store_.known_place(level_, wanted_);
  if (known && kind_ != Kind::lookup) return join_queue(*known);
  if (known) return read(*known, Step::search);
  if (store_.known_root_.level >= level_) return read(store_.known_root_.place, Step::search);
  store_.mgr().get(block_.address() + kAnswer, store_.root_word(), 0, kWord, &ack_);  // the tree may have grown
  step_ = Step::read_root;
}

void tree_operation::read(tree_place where, Step step) {
  where_ = where;
  store_.mgr().get(block_.address(), store_.nodes_of(where.node), tree_store::offset(where), tree_node::kBytes, &ack_);
  step_ = step;
}

void tree_operation::fetch(std::size_t first, std::size_t words) {
  for (std::size_t i = first; i < first + words; ++i) node_.word(i) = block_.load(i * kWord);
}

bool tree_operation::fetch_node(Step again) {
  fetch(0, tree_node::kHeaderWords);
  if (node_.level() > 0)
    fetch(tree_node::kHeaderWords, std::min(node_.children(), tree_node::kChildren) * tree_node::kChildWords);
  if (node_.intact()) return true;
  ++store_.torn_reads_;
  read(where_, again);
  return false;
}

void tree_operation::searched() {
  if (!fetch_node(Step::search)) return;
  store_.learn(node_, where_);
  if (wanted_ > node_.last()) return read(node_.sibling(), Step::search);
  const bool changes = kind_ != Kind::lookup;
  if (node_.level() == level_) return changes ? join_queue(where_) : look_into_leaf();
  const tree_place below = node_.child_for(wanted_);
  if (changes && node_.level() == level_ + 1) return join_queue(below);
  read(below, Step::search);
}

tree_operation::Found tree_operation::find_in_leaf(bool want_free) {
  Found found;
  for (std::size_t i = 0; i < tree_node::kEntries; ++i) {
    const std::size_t at = tree_node::entry_at(i);
    fetch(at, 1);
    if (node_.word(at) != wanted_ && !want_free) continue;
    fetch(at + 1, tree_node::kEntryWords - 1);
    if (want_free && !found.free && node_.is_free(i)) found.free = i;
    if (node_.word(at) != wanted_) continue;
    if (!node_.entry_intact(i) || node_.entry_of(i).version > node_.version()) {
      found.stale = true;
    } else if (node_.entry_of(i).value != 0) {
      found.entry = i;
      return found;
    }
  }
  return found;
}

void tree_operation::look_into_leaf() {
  Found found = find_in_leaf(false);
  if (found.entry) return finish(node_.entry_of(*found.entry).value);
  // The key is not there, which is certain only if no entry is torn or newer than the header.
  fetch(tree_node::kHeaderWords, tree_node::kWords - tree_node::kHeaderWords);
  for (std::size_t i = 0; i < tree_node::kEntries; ++i)
    found.stale |= !node_.entry_intact(i) || node_.entry_of(i).version > node_.version();
  if (!found.stale) return finish(0);
  ++store_.torn_reads_;
  read(where_, Step::search);
}

// --- the lock --------------------------------------------------------------------------------------------------------

Region tree_operation::lock_word() const { return store_.remote(store_.lock_words_, where_.node); }

void tree_operation::begin_lock_call(std::string_view method) {
  transport_.begin_call({.library = "lock",
                         .method = method,
                         .object = store_.full_name(),
                         .argument = tree_place{where_.node, store_.lock_of(where_)}.word(),
                         .lane = lane_});
}

void tree_operation::join_queue(tree_place where) {
  where_ = where;
  local_ = &store_.mine(where);
  begin_lock_call("acquire");
  turn_ = transport_.flag_fetch_add(local_->next, 1);
  step_ = Step::queue;
}

void tree_operation::take_turn() {
  if (transport_.flag_peek(local_->serving) != turn_) return;
  if (local_->handed_over) return got_lock();
  try_lock();
}

void tree_operation::try_lock() {
  store_.mgr().compare_swap(block_.address() + kAnswer, lock_word(), store_.lock_of(where_) * kWord, 0, kTaken, &ack_);
  step_ = Step::lock;
}

void tree_operation::locked() {
  if (block_.load(kAnswer) == 0) return got_lock();
  require_all_answer();
  try_lock();
}

/// A lock does not name its owner, which may be any node that does not answer.
void tree_operation::require_all_answer() {
  if (const auto lost = patience_.lost_with(store_.mgr(), store_, 0, 0))
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(store_.my_node()) + ": a lock of '" + store_.full_name() +
                              "' does not come free; node " + std::to_string(*lost) +
                              ", which does not answer, may have it",
                          *lost);
}

void tree_operation::got_lock() {
  transport_.end_call(0, lane_);
  read(where_, Step::locked_read);
}

/// Posts the given parts, the fence's read and the release as one list. A lock that another thread of the node waits
/// for stays with the node.
void tree_operation::write_and_unlock(std::vector<Part> parts, Then then) {
  manager& mgr = store_.mgr();
  then_ = then;
  const bool others = transport_.flag_load(local_->next) > turn_ + 1;
  hands_over_ = others && local_->hand_overs < tree_store::kHandOversMax;
  begin_lock_call("release");
  const bool fence = store_.options_.fence && !parts.empty();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool more = i + 1 < parts.size() || fence || !hands_over_;
    mgr.put(parts[i].local, store_.nodes_of(parts[i].where.node), parts[i].offset, parts[i].bytes, &ack_,
            {.more = more});
  }
  if (fence)
    mgr.get(block_.address() + kLanding, mgr.fence_location(where_.node), 0, kWord, &ack_, {.more = !hands_over_});
  if (!hands_over_) {
    if (fence) transport_.remote_fence(where_.node);
    mgr.put(block_.address() + kZero, lock_word(), store_.lock_of(where_) * kWord, kWord, &ack_, {.fenced = false});
  }
  step_ = Step::write;
}

void tree_operation::written() {
  local_->handed_over = hands_over_;
  local_->hand_overs = hands_over_ ? local_->hand_overs + 1 : 0;
  transport_.end_call(0, lane_);
  transport_.flag_fetch_add(local_->serving, 1);
  switch (then_) {
    case Then::finish:
      return finish(result_);
    case Then::go_right:
      return join_queue(node_.sibling());
    case Then::go_up:
      return go_up();
  }
}

// --- under the lock --------------------------------------------------------------------------------------------------

void tree_operation::change_node() {
  if (!fetch_node(Step::locked_read)) return;  // what the last holder wrote without a fence is still in flight
  store_.learn(node_, where_);
  if (wanted_ > node_.last()) return write_and_unlock({}, Then::go_right);
  if (level_ == 0)
    change_leaf();
  else
    change_inner();
}

void tree_operation::store_words(const mem_ref& block, tree_node& node, std::size_t first, std::size_t words) {
  for (std::size_t i = first; i < first + words; ++i) transport_.store(block.address() + i * kWord, node.word(i));
}

void tree_operation::change_leaf() {
  const Found found = find_in_leaf(kind_ == Kind::insert);
  if (found.stale) {
    ++store_.torn_reads_;
    return read(where_, Step::locked_read);
  }
  result_ = found.entry.has_value() == (kind_ != Kind::insert) ? 1 : 0;
  if (result_ == 0) return write_and_unlock({}, Then::finish);
  if (kind_ == Kind::insert && !found.free) return split_leaf();
  const std::size_t entry = kind_ == Kind::insert ? *found.free : *found.entry;
  node_.set_entry(entry, key_, kind_ == Kind::erase ? 0 : value_);
  const std::size_t at = tree_node::entry_at(entry);
  store_words(block_, node_, at, tree_node::kEntryWords);
  write_and_unlock({{block_.address() + at * kWord, where_, tree_store::offset(where_) + at * kWord,
                     tree_node::kEntryWords * kWord}},
                   Then::finish);
}

void tree_operation::change_inner() {
  if (!node_.insert_child({wanted_, child_})) return split_inner();
  node_.seal();
  store_words(block_, node_, 0, tree_node::kWords);
  write_and_unlock({{block_.address(), where_, tree_store::offset(where_), tree_node::kBytes}}, Then::finish);
}

void tree_operation::split_leaf() {
  new_sibling_ = store_.take_node(where_.node);
  tree_node upper = node_.split(new_sibling_);
  tree_node& half = upper.covers(key_) ? upper : node_;
  for (std::size_t i = 0; i < tree_node::kEntries; ++i) {
    if (!half.is_free(i)) continue;
    half.set_entry(i, key_, value_);
    break;
  }
  write_nodes(upper);
}

void tree_operation::split_inner() {
  new_sibling_ = store_.take_node(where_.node);
  tree_node upper = node_.split(new_sibling_);
  (upper.covers(wanted_) ? upper : node_).insert_child({wanted_, child_});
  write_nodes(upper);
}

/// The new sibling is written first, because other threads find it through this node.
void tree_operation::write_nodes(tree_node& upper) {
  ++store_.splits_;
  separator_ = upper.lowest();
  upper.seal();
  node_.seal();
  store_.learn(upper, new_sibling_);
  if (!sibling_block_) sibling_block_ = std::make_unique<mem_ref>(store_.mgr(), tree_node::kBytes);
  store_words(*sibling_block_, upper, 0, tree_node::kWords);
  store_words(block_, node_, 0, tree_node::kWords);
  write_and_unlock({{sibling_block_->address(), new_sibling_, tree_store::offset(new_sibling_), tree_node::kBytes},
                    {block_.address(), where_, tree_store::offset(where_), tree_node::kBytes}},
                   Then::go_up);
}

// --- the way up ------------------------------------------------------------------------------------------------------

void tree_operation::go_up() {
  ++level_;
  wanted_ = separator_;
  child_ = new_sibling_;
  seek();
}

/// The root's word has arrived. If the old root was split, a new one is put above it.
void tree_operation::compare_root() {
  old_root_ = block_.load(kAnswer);
  const auto root = tree_store::root_place::of(old_root_);
  if (root.level > store_.known_root_.level) store_.known_root_ = root;
  if (root.level >= level_) return seek();
  where_ = store_.take_node(where_.node);
  node_ = tree_node(level_, 0, kKeyMax);
  node_.set_leftmost(root.place);
  node_.insert_child({wanted_, child_});
  node_.seal();
  store_words(block_, node_, 0, tree_node::kWords);
  manager& mgr = store_.mgr();
  mgr.put(block_.address(), store_.nodes_of(where_.node), tree_store::offset(where_), tree_node::kBytes, &ack_,
          {.more = true});
  mgr.get(block_.address() + kLanding, mgr.fence_location(where_.node), 0, kWord, &ack_);
  step_ = Step::fill_root;
}

void tree_operation::fill_root() {
  const tree_store::root_place mine{where_, level_};
  store_.mgr().compare_swap(block_.address() + kAnswer, store_.root_word(), 0, old_root_, mine.word(), &ack_);
  step_ = Step::swap_root;
}

void tree_operation::swapped_root() {
  const std::uint64_t seen = block_.load(kAnswer);
  if (seen == old_root_) {
    store_.learn(node_, where_);
    return finish(result_);
  }
  store_.known_root_ = tree_store::root_place::of(seen);  // another thread has installed one; the new node stays unused
  seek();
}

tree_window::tree_window(tree_store& store, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; ++i) operations_.push_back(std::make_unique<tree_operation>(store, i + 1));
}

}  // namespace loco::baselines
