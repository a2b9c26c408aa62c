// An operation on a tree_store that never waits, and a thread's window of them: Sherman's coroutines as steps.
//
// A change works on one node at a time and holds only that node's lock: first a leaf, then, while nodes are split, one
// inner node after the other upwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "loco_sim/baselines/tree_store.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco::baselines {

class tree_operation {
 public:
  using Kind = kv_operation::Kind;

  /// The trace shows it in the given lane.
  tree_operation(tree_store& store, std::uint32_t lane);

  void start(Kind kind, std::uint64_t key, std::uint64_t value);
  /// Takes all steps that need not wait. Returns true when the operation is finished. Throws operation_error or
  /// size_error, which also finish it.
  bool poll();
  [[nodiscard]] bool finished() const { return step_ == Step::idle; }
  [[nodiscard]] Kind kind() const { return kind_; }
  /// A lookup's value, 0 if there is none; otherwise whether the change was made. Precondition: finished().
  [[nodiscard]] std::uint64_t result() const { return result_; }

 private:
  enum class Step : std::uint8_t { idle, search, queue, lock, locked_read, write, read_root, fill_root, swap_root };
  /// What follows when the writes and the release of the lock are complete.
  enum class Then : std::uint8_t { finish, go_right, go_up };

  void advance();
  /// Searches for the node of the wanted level that covers the wanted key.
  void seek();
  void read(tree_place where, Step step);
  void searched();
  void look_into_leaf();
  void begin_lock_call(std::string_view method);
  void join_queue(tree_place where);
  void take_turn();
  void try_lock();
  void locked();
  void got_lock();
  void change_node();
  void change_leaf();
  void change_inner();
  void split_leaf();
  void split_inner();
  /// Writes parts of the node and of the new sibling, and releases the lock.
  struct Part {
    Address local;
    tree_place where;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  void write_and_unlock(std::vector<Part> parts, Then then);
  void write_nodes(tree_node& upper);
  void written();
  void go_up();
  void compare_root();
  void fill_root();
  void swapped_root();
  void finish(std::uint64_t result);

  /// Reads the header, or all, of the node that has landed. Returns false if it was being written; it is then read
  /// again.
  bool fetch_node(Step again);
  void fetch(std::size_t first, std::size_t words);
  struct Found {
    std::optional<std::size_t> entry;  ///< the one with the key
    std::optional<std::size_t> free;
    bool stale = false;  ///< torn, or newer than the header
  };
  [[nodiscard]] Found find_in_leaf(bool want_free);
  void store_words(const mem_ref& block, tree_node& node, std::size_t first, std::size_t words);
  [[nodiscard]] Region lock_word() const;
  void require_all_answer();

  tree_store& store_;
  Transport& transport_;
  std::uint32_t lane_;
  ack_key ack_;
  mem_ref block_;                           ///< a node, followed by kAnswer, kZero and kLanding
  std::unique_ptr<mem_ref> sibling_block_;  ///< for a second node that is written as a whole
  patience patience_;
  tree_node node_;
  tree_store::local_lock* local_ = nullptr;  ///< its address is stable
  std::uint64_t turn_ = 0;
  bool hands_over_ = false;
  Step step_ = Step::idle;
  Then then_ = Then::finish;
  Kind kind_ = Kind::lookup;
  std::uint64_t key_ = 0;
  std::uint64_t value_ = 0;
  std::uint64_t result_ = 0;
  // The operation searches for the node of this level that covers this key. Above the leaves, the child is inserted
  // there.
  std::uint64_t level_ = 0;
  std::uint64_t wanted_ = 0;
  tree_place child_;
  tree_place where_;
  // After a split: the separator that must be inserted into the parent.
  std::uint64_t separator_ = 0;
  tree_place new_sibling_;
  std::uint64_t old_root_ = 0;  ///< the root's word as read
};

/// A thread's operations in flight, in lanes 1 to size.
class tree_window {
 public:
  tree_window(tree_store& store, std::uint32_t size);

  [[nodiscard]] std::size_t size() const { return operations_.size(); }
  [[nodiscard]] bool finished(std::size_t i) const { return operations_[i]->finished(); }
  void start(std::size_t i, kv_operation::Kind kind, std::uint64_t key, std::uint64_t value) {
    operations_[i]->start(kind, key, value);
  }
  template <typename Ended>
  void poll(const Ended& ended) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      tree_operation& operation = *operations_[i];
      if (!operation.finished() && operation.poll()) ended(i, operation.kind(), operation.result());
    }
  }

 private:
  std::vector<std::unique_ptr<tree_operation>> operations_;
};

}  // namespace loco::baselines
