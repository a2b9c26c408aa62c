// A set-associative cache of keys with least-recently-used replacement, as a value: for queue pair contexts, memory
// translations and the IOMMU's translation buffer.
//
// It holds keys only, because the model needs to know whether something is cached, not its content. With 0 entries it
// holds everything. Deterministic: a key's set is a fixed hash of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nic_model/engine/hash.hpp"
#include "sim/modulus.hpp"
#include "sim/prefetch.hpp"

namespace loco::nic {

/// Key: unsigned; its greatest value is not used as a key.
template <class Key>
class KeyCache {
 public:
  KeyCache() = default;
  /// Precondition: ways, banks > 0. `entries` is rounded down to whole sets, but at least one. The sets are divided
  /// evenly among `banks`; keys of different banks never share a set if there are at least as many sets as banks.
  KeyCache(std::uint32_t entries, std::uint32_t ways, std::uint32_t banks = 1)
      : ways_(std::min(ways, entries)),
        sets_(entries == 0 ? 0 : entries / ways_, 0),
        in_bank_(std::max<std::size_t>(1, sets_.size() / banks)) {}

  /// True if the key was in the cache. Makes it the newest of its set. Precondition: bank < banks.
  bool touch(Key key, std::uint64_t bank = 0) { return sets_.empty() || touch_in(set_of(key, bank), key); }
  /// Has the simulating machine's cache fetch what touch() will look at. Changes nothing.
  void prefetch(Key key) const {
    if (sets_.empty()) return;
    if (const std::uint32_t used = sets_[set_of(key, 0)]; used != 0)
      sim::prefetch(lines_.data() + (used - 1) * std::size_t{ways_}, ways_ * sizeof(Key));
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

  /// Precondition: there are entries.
  [[nodiscard]] std::size_t set_of(Key key, std::uint64_t bank) const {
    const std::uint64_t set = bank * in_bank_.divisor() + in_bank_.of(mix(key));
    return set < sets_.size() ? set : set % sets_.size();
  }

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
  std::vector<std::uint32_t> sets_;  // where the set is in lines_, counted from 1; 0: never used
  std::vector<Key> lines_;           // the used sets one after the other, each with its newest key first
  sim::Modulus in_bank_{1};          // by the number of sets in a bank
};

}  // namespace loco::nic
