// A key-value store as a B+ tree on one-sided operations, for comparison with LOCO's (LOCO paper, Section 6.2 and Fig.
// 17). It does what Sherman does (Wang, Lu and Shu, SIGMOD 2022), according to its sources (Tree.cpp) where the paper
// says nothing.
//
//   nodes        1 KiB each, in the memory of all nodes. A B-link tree: a search for a key beyond a node's last one
//                continues at the right sibling. Leaves are unordered (tree_node.hpp)
//   locks        hierarchical and on chip: 32,768 of 8 bytes in each NIC's memory, one for each of its first nodes.
//                Taken with compare-and-swap, repeated at once until it succeeds. Before that the threads of a node
//                queue for the lock locally and pass it on among themselves, at most 8 times in a row
//   index cache  each node knows which leaf has which keys; the leaf itself shows that a cached place is stale
//   lookup       one READ of a whole leaf
//   update       lock; READ the leaf; write the entry and release the lock in one list of work requests, and wait for
//                it (command combination)
//   insert       the same. A full leaf is split: the new sibling (on the same node), the leaf and the release are one
//                list; then the separator is inserted into the parent in the same way
//   erase        sets the entry's value to 0; leaves are not merged
//
// With `fence`, as modified by LOCO's authors for their measurement ("between lock-protected writes and lock
// releases"), a READ of 8 bytes is between the two in the list, and the release waits for it in the queue. As in
// Sherman, a node accesses its own memory through the NIC.
//
// Differences to Sherman: locks have no 16-bit form; every node has its share of every other node's spare nodes from
// the start, where Sherman requests chunks; the places of leaves are cached themselves, and the cache needs no
// replacement (1,000 MB there). Inserting a key that exists fails, as does updating one that does not, as in LOCO's
// store. Searches of the cache take no simulated time. Simulated threads take turns, so what a node's threads share
// needs no lock.
//
// Linearisable: changes take effect when the entry is written, under the lock; lookups when they read it.
//
// Errors: size_error if a node has no spare node; operation_error if a node does not answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loco_sim/baselines/tree_node.hpp"
#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/store/kvstore.hpp"

namespace loco::baselines {

struct tree_options {
  std::uint64_t nodes_max = 1024;  ///< of the loaded tree, on all nodes together
  std::uint64_t spare = 16;        ///< nodes that each node may take from each other one
  bool fence = true;
  bool index_cache = true;  ///< false: every operation starts at the root
};

/// Number of nodes of a tree with this many keys, as loaded.
[[nodiscard]] std::uint64_t tree_nodes_of(std::uint64_t keys);

class tree_store : public channel {
 public:
  using Entry = kvstore::Entry;

  tree_store(manager& mgr, std::string_view name, tree_options options);

  /// To call on all nodes before any operation: loads the entries, sorted by key, into leaves that are 80 % full.
  void load(const std::vector<Entry>& sorted);
  /// Number of nodes or entries that were read while they were being written.
  [[nodiscard]] std::uint64_t torn_reads() const { return torn_reads_; }
  [[nodiscard]] std::uint64_t splits() const { return splits_; }
  /// Number of levels above the leaves, as far as this node knows.
  [[nodiscard]] std::uint64_t height() const { return known_root_.level; }

 private:
  friend class tree_operation;

  static constexpr std::uint64_t kLocksMax = 32'768;  ///< of a NIC: 8 bytes each, 256 KiB together
  static constexpr std::uint32_t kHandOversMax = 8;
  static constexpr std::size_t kFill = tree_node::kEntries * 8 / 10;           ///< entries of a leaf when loaded
  static constexpr std::size_t kChildrenFill = tree_node::kChildren * 8 / 10;  ///< of an inner node when loaded

  /// A lock from the view of this node: the threads that queue for it locally.
  struct local_lock {
    Flag next;     ///< next local ticket
    Flag serving;  ///< the local ticket whose turn it is
    bool handed_over = false;
    std::uint32_t hand_overs = 0;
  };
  /// The root, as far as this node knows.
  struct root_place {
    tree_place place = {};
    std::uint64_t level = 0;
    [[nodiscard]] std::uint64_t word() const { return level << kLevelShift | place.word(); }
    [[nodiscard]] static root_place of(std::uint64_t word) {
      return {tree_place::of(word & ((std::uint64_t{1} << kLevelShift) - 1)), word >> kLevelShift};
    }
    static constexpr std::uint32_t kLevelShift = 60;
  };
  struct loaded {
    std::uint64_t lowest;
    tree_place place;
  };

  friend std::uint64_t tree_nodes_of(std::uint64_t keys);

  // Places.
  [[nodiscard]] Region nodes_of(NodeId node) const { return remote(nodes_, node); }
  [[nodiscard]] static std::uint64_t offset(tree_place place) { return place.index * tree_node::kBytes; }
  [[nodiscard]] std::uint64_t lock_of(tree_place place) const { return place.index % locks_; }
  [[nodiscard]] local_lock& mine(tree_place place);
  [[nodiscard]] tree_place take_node(NodeId node);
  [[nodiscard]] Region root_word() const { return remote(root_, 0); }

  // The cache.
  [[nodiscard]] std::optional<tree_place> known_place(std::uint64_t level, std::uint64_t key) const;
  void learn(const tree_node& node, tree_place place);

  // Loading.
  [[nodiscard]] tree_place next_place() { return place_of_number(taken_++); }
  [[nodiscard]] tree_place place_of_number(std::uint64_t i) const {
    return {static_cast<NodeId>(i % num_nodes()), i / num_nodes()};
  }
  void place(tree_node& node, tree_place at);
  [[nodiscard]] std::vector<loaded> load_leaves(const std::vector<Entry>& sorted);
  [[nodiscard]] std::vector<loaded> load_inner(std::uint64_t level, const std::vector<loaded>& below);

  tree_options options_;
  std::uint64_t initial_;  ///< nodes that each node has for the loaded tree; spare ones follow
  std::uint64_t locks_;    ///< on each node
  RegionIndex nodes_;
  RegionIndex lock_words_;
  RegionIndex root_;
  root_place known_root_;
  std::vector<std::map<std::uint64_t, tree_place>> cache_;     ///< by level: places by lowest key
  std::unordered_map<std::uint64_t, local_lock> local_locks_;  // by place_word of the lock; never iterated
  std::vector<std::uint64_t> spare_taken_;                     ///< by node
  std::uint64_t taken_ = 0;
  std::uint64_t torn_reads_ = 0;
  std::uint64_t splits_ = 0;
};

}  // namespace loco::baselines
