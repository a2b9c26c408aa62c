// A set-associative cache of keys with least-recently-used replacement, as a value: for queue pair contexts, memory
// translations and the IOMMU's translation buffer.
//
// It holds keys only, because the model needs to know whether something is cached, not its content. With 0 entries it
// holds everything. Deterministic: a key's set is a fixed hash of it. Most NICs of a large machine use a few sets of
// thousands: only used sets have storage, and while they are few they are found by a search through their numbers.
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
        sets_(entries == 0 ? 0 : entries / ways_),
        in_bank_(std::max<std::uint32_t>(1, sets_ / banks)) {}

  /// True if the key was in the cache. Makes it the newest of its set. Precondition: bank < banks.
  bool touch(Key key, std::uint64_t bank = 0) { return sets_ == 0 || touch_in(set_of(key, bank), key); }
  /// True if the key is in the cache. Changes nothing.
  [[nodiscard]] bool holds(Key key, std::uint64_t bank = 0) const {
    if (sets_ == 0) return true;
    const std::size_t place = place_of(set_of(key, bank));
    if (place == used_) return false;
    const Key* const set = lines_.data() + place * ways_;
    return std::find(set, set + ways_, key) != set + ways_;
  }
  /// Has the simulating machine's cache fetch what touch() will look at. Changes nothing.
  void prefetch(Key key) const {
    if (sets_ == 0) return;
    if (const std::size_t place = place_of(set_of(key, 0)); place != used_)
      sim::prefetch(lines_.data() + place * ways_, ways_ * sizeof(Key));
  }

  bool operator==(const KeyCache& other) const {
    if (ways_ != other.ways_ || sets_ != other.sets_ || used_ != other.used_) return false;
    for (std::uint32_t set = 0; set < sets_; ++set) {
      const std::size_t here = place_of(set);
      const std::size_t there = other.place_of(set);
      if ((here == used_) != (there == used_)) return false;
      if (here != used_ && !std::equal(line(here), line(here) + ways_, other.line(there))) return false;
    }
    return true;
  }

 private:
  static constexpr Key kNone = static_cast<Key>(~Key{0});
  static constexpr std::size_t kFew = 16;

  /// Precondition: there are entries.
  [[nodiscard]] std::uint32_t set_of(Key key, std::uint64_t bank) const {
    const std::uint64_t set = bank * in_bank_.divisor() + in_bank_.of(mix(key));
    return static_cast<std::uint32_t>(set < sets_ ? set : set % sets_);
  }
  /// Which of the used sets it is; their number if it is none.
  [[nodiscard]] std::size_t place_of(std::uint32_t set) const {
    if (!places_.empty()) return places_[set] == 0 ? used_ : places_[set] - 1;
    return static_cast<std::size_t>(std::find(few_.begin(), few_.end(), set) - few_.begin());
  }
  std::size_t use(std::uint32_t set) {
    const std::size_t place = used_++;
    lines_.resize(lines_.size() + ways_, kNone);
    if (place < kFew) {
      few_.push_back(set);
      return place;
    }
    if (places_.empty()) {
      places_.resize(sets_);
      for (std::size_t i = 0; i < few_.size(); ++i) places_[few_[i]] = static_cast<std::uint32_t>(i + 1);
      few_ = {};
    }
    places_[set] = static_cast<std::uint32_t>(place + 1);
    return place;
  }

  bool touch_in(std::uint32_t index, Key key) {
    std::size_t place = place_of(index);
    if (place == used_) place = use(index);
    Key* const set = lines_.data() + place * ways_;
    if (*set == key) return true;
    Key* const end = set + ways_;
    Key* found = std::find(set, end, key);
    const bool hit = found != end;
    if (!hit) found = end - 1;
    std::move_backward(set, found, found + 1);
    *set = key;
    return hit;
  }
  [[nodiscard]] const Key* line(std::size_t place) const { return lines_.data() + place * ways_; }

  std::uint32_t ways_ = 1;
  std::uint32_t sets_ = 0;
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> few_;     // while few sets are used: their numbers
  std::vector<std::uint32_t> places_;  // afterwards: by set, which of the used ones it is, counted from 1; 0: none
  std::vector<Key> lines_;             // the used sets one after the other, each with its newest key first
  sim::Modulus in_bank_{1};            // by the number of sets in a bank
};

}  // namespace loco::nic
