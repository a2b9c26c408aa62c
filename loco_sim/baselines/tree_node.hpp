// A node of the B+ tree of tree_store.hpp as it is in memory: 1 KiB, as in Sherman (Wang, Lu and Shu, "Sherman: A
// Write-Optimized Distributed B+Tree Index on Disaggregated Memory", SIGMOD 2022; its sources, Tree.h).
//
// A header of 8 words: version, level (0: a leaf), the keys that it covers (lowest to last, both inclusive), the right
// sibling, the leftmost child, the number of children, a checksum. Then 30 unordered entries of a leaf (key, value,
// version, checksum; the value 0 is a free entry), or 60 children in the order of their lowest keys (key, place).
//
// As in Sherman, versions have two levels: an entry carries the version that its node had when the entry was written,
// and a split raises the node's version. Entries that a split has moved stay where they are but no longer count,
// because they are beyond the last key. So a reader that finds an entry newer than the header must read again, and
// everything else in a node may be read in any order. Sherman detects a torn entry or node by one version in front and
// one behind, which requires that reads and writes go in one order of addresses, and even then misses some. Here a
// checksum detects them, in the same write, over the entry, over the header, or over a whole inner node. So an entry
// takes 32 bytes instead of Sherman's 18, and a leaf has 30 keys instead of 53.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "loco_sim/loco/transport.hpp"

namespace loco::baselines {

inline constexpr std::uint64_t kKeyMax = std::numeric_limits<std::uint64_t>::max();

/// The place of a node: whose memory it is in, and its index there. The word 0 means none.
struct tree_place {
  NodeId node = 0;
  std::uint64_t index = 0;

  bool operator==(const tree_place&) const = default;
  [[nodiscard]] std::uint64_t word() const { return std::uint64_t{node} << kIndexBits | (index + 1); }
  [[nodiscard]] static tree_place of(std::uint64_t word) {
    return {static_cast<NodeId>(word >> kIndexBits), (word & ((std::uint64_t{1} << kIndexBits) - 1)) - 1};
  }
  static constexpr std::uint32_t kIndexBits = 40;
};

/// An image of a node. The caller must know which of it has been read.
class tree_node {
 public:
  static constexpr std::size_t kWords = 128;
  static constexpr std::uint64_t kBytes = kWords * kWord;
  static constexpr std::size_t kHeaderWords = 8;
  static constexpr std::size_t kEntryWords = 4;  ///< of a leaf's entry
  static constexpr std::size_t kEntries = (kWords - kHeaderWords) / kEntryWords;
  static constexpr std::size_t kChildWords = 2;
  static constexpr std::size_t kChildren = (kWords - kHeaderWords) / kChildWords;

  struct entry {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    std::uint64_t version = 0;
  };
  struct child {
    std::uint64_t lowest = 0;
    tree_place place = {};
  };

  tree_node() = default;
  /// A node without entries and children, with version 1.
  tree_node(std::uint64_t level, std::uint64_t lowest, std::uint64_t last);

  [[nodiscard]] std::uint64_t& word(std::size_t i) { return words_[i]; }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

  [[nodiscard]] std::uint64_t version() const { return words_[kVersion]; }
  [[nodiscard]] std::uint64_t level() const { return words_[kLevel]; }
  [[nodiscard]] std::uint64_t lowest() const { return words_[kLowest]; }
  [[nodiscard]] std::uint64_t last() const { return words_[kLast]; }
  [[nodiscard]] bool covers(std::uint64_t key) const { return lowest() <= key && key <= last(); }
  /// Precondition: last() < kKeyMax.
  [[nodiscard]] tree_place sibling() const { return tree_place::of(words_[kSibling]); }
  void set_sibling(tree_place place) { words_[kSibling] = place.word(); }
  [[nodiscard]] std::size_t children() const { return words_[kCount]; }
  /// True if the header is whole, and with it an inner node.
  [[nodiscard]] bool intact() const { return words_[kSum] == sum(); }
  /// Sets the checksum, before the node is written.
  void seal() { words_[kSum] = sum(); }

  // For leaves.
  [[nodiscard]] static constexpr std::size_t entry_at(std::size_t i) { return kHeaderWords + i * kEntryWords; }
  [[nodiscard]] entry entry_of(std::size_t i) const;
  [[nodiscard]] bool entry_intact(std::size_t i) const;
  /// Writes an entry with the node's version.
  void set_entry(std::size_t i, std::uint64_t key, std::uint64_t value);
  /// True if the entry may be used for another key.
  [[nodiscard]] bool is_free(std::size_t i) const { return entry_of(i).value == 0 || !covers(entry_of(i).key); }

  // For inner nodes.
  [[nodiscard]] child child_of(std::size_t i) const;
  void set_leftmost(tree_place place) { words_[kLeftmost] = place.word(); }
  /// Precondition: the key is covered.
  [[nodiscard]] tree_place child_for(std::uint64_t key) const;
  /// Returns false if there is no room.
  bool insert_child(const child& inserted);

  /// Splits a full node: returns the upper half, which is to be at `place`; neither half is sealed. The lower half's
  /// entries stay where they are, and its version is raised.
  [[nodiscard]] tree_node split(tree_place place);

 private:
  enum HeaderWord : std::size_t { kVersion, kLevel, kLowest, kLast, kSibling, kLeftmost, kCount, kSum };

  [[nodiscard]] std::uint64_t sum() const;
  [[nodiscard]] tree_node upper_half_of_leaf() const;
  [[nodiscard]] tree_node upper_half_of_children();

  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace loco::baselines
