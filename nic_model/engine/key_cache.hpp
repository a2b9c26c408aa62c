// A set-associative cache of keys with least-recently-used replacement, as a value: queue pair contexts, memory
// translations, the IOMMU's buffer.
//
// Remembers keys only: what is cached does not matter to the model, whether it is does. Without entries it holds
// everything. Deterministic: a key's set is a fixed hash of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nic_model/engine/hash.hpp"

namespace loco::nic {

/// Key: unsigned; its greatest value is not used as a key.
template <class Key>
class KeyCache {
 public:
  KeyCache() = default;
  /// Precondition: ways > 0. `entries` is rounded down to whole sets, but to one at least.
  KeyCache(std::uint32_t entries, std::uint32_t ways)
      : ways_(std::min(ways, entries)), sets_(entries == 0 ? 0 : entries / ways_, 0) {}

  /// True when the key was there. Makes it the newest of its set.
  bool touch(Key key) { return sets_.empty() || touch_in(mix(key) % sets_.size(), key); }
  /// The same, with the sets in `banks` parts of the same size: keys of different banks never share a set, as long as
  /// there are as many sets as banks. Precondition: bank < banks.
  bool touch(Key key, std::uint64_t bank, std::uint64_t banks) {
    if (sets_.empty()) return true;
    const std::uint64_t sets = sets_.size();
    const std::uint64_t in_bank = std::max<std::uint64_t>(1, sets / banks);
    return touch_in((bank * in_bank + mix(key) % in_bank) % sets, key);
  }

  bool operator==(const KeyCache& other) const {
    if (ways_ != other.ways_ || sets_.size() != other.sets_.size()) return false;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if ((sets_[i] == 0) != (other.sets_[i] == 0)) return false;
      if (sets_[i] != 0 && !std::equal(line(i), line(i) + ways_, other.line(i))) return false;
    }
    return true;
  }

 private:
  static constexpr Key kNone = static_cast<Key>(~Key{0});

  bool touch_in(std::size_t index, Key key) {
    if (sets_[index] == 0) {
      lines_.resize(lines_.size() + ways_, kNone);
      sets_[index] = static_cast<std::uint32_t>(lines_.size() / ways_);
    }
    Key* const set = lines_.data() + (sets_[index] - 1) * std::size_t{ways_};
    if (*set == key) return true;
    Key* const end = set + ways_;
    Key* found = std::find(set, end, key);
    const bool hit = found != end;
    if (!hit) found = end - 1;
    std::move_backward(set, found, found + 1);
    *set = key;
    return hit;
  }
  [[nodiscard]] const Key* line(std::size_t set) const { return lines_.data() + (sets_[set] - 1) * std::size_t{ways_}; }

  std::uint32_t ways_ = 1;
  std::vector<std::uint32_t> sets_;  // where in lines_ a set is, counted from 1; 0: never used
  std::vector<Key> lines_;           // a used set after the other, newest key first
};

}  // namespace loco::nic
