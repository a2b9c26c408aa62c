// The table of a node's index: a key's location, in one array, by open addressing (Knuth, TAOCP volume 3, 6.4,
// algorithms L and R: linear probing, and erasing by moving what comes behind).
//
// Every node has an index of all keys, so an entry is 24 bytes, and nothing is allocated an entry. At most seven
// eighths of the array are full; it doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Where a value is, and of which generation of the slot it is.
struct kv_location {
  NodeId node = 0;         ///< below 2^24 - 1
  std::uint64_t slot = 0;  ///< below 2^40
  std::uint64_t counter = 0;

  bool operator==(const kv_location&) const = default;
};

class kv_table {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Room for so many keys in all, so that it need not grow on the way. Precondition: it is empty.
  void reserve(std::size_t keys);
  [[nodiscard]] std::optional<kv_location> find(std::uint64_t key) const;
  /// False, and nothing changes, when the key is there already.
  bool insert(std::uint64_t key, const kv_location& where);
  void insert_or_assign(std::uint64_t key, const kv_location& where);
  void erase(std::uint64_t key);

 private:
  static constexpr std::uint32_t kSlotBits = 40;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t counter = 0;
    std::uint64_t place = kFree;  ///< node, slot
  };

  [[nodiscard]] static Entry packed(std::uint64_t key, const kv_location& where);
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }
  /// Where the key is, or the free place at which its search ends.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const;
  void add(std::size_t at, const Entry& entry);
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(8);  ///< a power of two of them
  std::size_t size_ = 0;
};

}  // namespace loco
