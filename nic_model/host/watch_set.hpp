// The words, completion queues and flags whose changes a waiting thread wants to see.
//
// Most changes are of keys that no thread watches, and most threads watch few keys: a filter with a bit for each key
// answers most queries, and few keys are searched one after the other. More keys have their places in a hash table,
// which keeps its storage. A thread that watches more than kMax keys watches everything on its node. Private to
// nic_model/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nic_model/engine/hash.hpp"

namespace loco::nic {

/// Keys of watch sets have their kind in the upper bits.
enum class WatchKind : std::uint8_t { word, cq, flag, user, srq };
[[nodiscard]] constexpr std::uint64_t watch_key(WatchKind kind, std::uint64_t key) {
  return (static_cast<std::uint64_t>(kind) << 60U) | key;
}

[[nodiscard]] constexpr WatchKind kind_of(std::uint64_t watch_key) { return static_cast<WatchKind>(watch_key >> 60U); }

class WatchSet {
 public:
  static constexpr std::size_t kMax = 4096;
  static_assert(kMax <= UINT16_MAX, "the table holds places of keys");

  void add(std::uint64_t key) {
    if (keys_.size() > kFew) return add_to_many(key);
    if (contains(key)) return;
    note(key);
    if (keys_.size() > kFew) fill_table();
  }

  void clear() {
    keys_.clear();
    mask_ = 0;
    bits_ = 0;
    first_word_ = kNone;
    last_word_ = 0;
    everything_ = false;
    any_word_ = false;
  }
  /// Adds all words of the node's memory.
  void add_all_words() { any_word_ = true; }

  /// True if the thread watches the key.
  [[nodiscard]] bool touched_by(std::uint64_t key) const {
    return everything_ || contains(key) || (any_word_ && kind_of(key) == WatchKind::word);
  }
  /// True if it watches any 8-byte word from `first` to `last`.
  [[nodiscard]] bool touched_by_words(std::uint64_t first, std::uint64_t last) const {
    if (first == last) return touched_by(first);
    if (everything_ || any_word_) return true;
    if (last < first_word_ || first > last_word_) return false;
    if (keys_.size() <= kFew || last - first >= 8 * keys_.size())
      return std::ranges::any_of(keys_, [&](std::uint64_t key) { return first <= key && key <= last; });
    for (std::uint64_t key = first; key <= last; key += 8)
      if (contains(key)) return true;
    return false;
  }

  [[nodiscard]] std::span<const std::uint64_t> keys() const { return keys_; }
  [[nodiscard]] bool everything() const { return everything_; }

  bool operator==(const WatchSet& o) const {
    return everything_ == o.everything_ && any_word_ == o.any_word_ && keys_ == o.keys_;
  }

 private:
  static constexpr std::size_t kFew = 32;  // up to this many are searched linearly
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// The filter's bit of a key. Adjacent words have different bits.
  static constexpr std::uint64_t bit(std::uint64_t key) {
    return std::uint64_t{1} << ((key ^ key >> 6U ^ key >> 57U) & 63U);
  }

  [[nodiscard]] bool contains(std::uint64_t key) const {
    if ((bits_ & bit(key)) == 0) return false;
    return keys_.size() <= kFew ? std::ranges::find(keys_, key) != keys_.end() : table_[place(key)] != 0;
  }

  /// Where a key is in the table or would be: linear probing (Knuth, TAOCP 3, 6.4).
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    std::size_t i = mix(key) & mask_;
    while (table_[i] != 0 && keys_[table_[i] - 1U] != key) i = (i + 1) & mask_;
    return i;
  }

  void note(std::uint64_t key) {
    bits_ |= bit(key);
    keys_.push_back(key);
    if (kind_of(key) != WatchKind::word) return;
    first_word_ = std::min(first_word_, key);
    last_word_ = std::max(last_word_, key);
  }

  [[gnu::noinline]] void add_to_many(std::uint64_t key) {
    std::uint16_t& entry = table_[place(key)];
    if (entry != 0) return;
    if (keys_.size() == kMax) {
      everything_ = true;
      return;
    }
    note(key);
    entry = static_cast<std::uint16_t>(keys_.size());
    if (2 * keys_.size() > mask_ + 1) fill_table();
  }

  /// Moves all keys to a table of twice the size, which is then a quarter full.
  [[gnu::noinline]] void fill_table() {
    const std::size_t size = mask_ == 0 ? 4 * kFew : 2 * (mask_ + 1);
    if (table_.size() < size) table_.resize(size);
    std::fill_n(table_.begin(), size, std::uint16_t{0});
    mask_ = size - 1;
    for (std::size_t i = 0; i < keys_.size(); ++i) table_[place(keys_[i])] = static_cast<std::uint16_t>(i + 1);
  }

  std::vector<std::uint64_t> keys_;
  // With more than kFew keys, where each of them is in keys_, counted from 1: the first mask_ + 1 entries of it.
  std::vector<std::uint16_t> table_;
  std::size_t mask_ = 0;
  std::uint64_t bits_ = 0;
  std::uint64_t first_word_ = kNone;  // all words that are watched lie between this one
  std::uint64_t last_word_ = 0;       // and this one; most changes are of words outside
  bool everything_ = false;
  bool any_word_ = false;
};

}  // namespace loco::nic
