// The hash table of a node's index: the location of each key in one array, with open addressing (Knuth, TAOCP volume 3,
// 6.4, algorithms L and R: linear probing, and deletion that moves later entries up).
//
// Every node indexes all keys, so an entry is kept to 24 bytes without an allocation of its own. The array doubles when
// it is more than seven eighths full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Where a value is, and the generation of the slot that holds it.
struct kv_location {
  NodeId node = 0;         ///< below 2^24 - 1
  std::uint64_t slot = 0;  ///< below 2^40
  std::uint64_t counter = 0;

  bool operator==(const kv_location&) const = default;
};

class kv_table {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Makes room for `keys` keys in all, so that the table need not grow later. Precondition: it is empty.
  void reserve(std::size_t keys);
  [[nodiscard]] std::optional<kv_location> find(std::uint64_t key) const;
  /// Returns false, without a change, if the key is there already.
  bool insert(std::uint64_t key, const kv_location& where);
  void insert_or_assign(std::uint64_t key, const kv_location& where);
  void erase(std::uint64_t key);

 private:
  static constexpr std::uint32_t kSlotBits = 40;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t counter = 0;
    std::uint64_t place = kFree;  ///< node and slot, packed
  };

  [[nodiscard]] static Entry packed(std::uint64_t key, const kv_location& where);
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }
  /// Index of the key's entry, or of the free entry that ends its search.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const;
  void add(std::size_t at, const Entry& entry);
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(8);  ///< their number is a power of two
  std::size_t size_ = 0;
};

}  // namespace loco
