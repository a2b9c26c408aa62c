// A node's index of a key-value store: the location of each key's value (LOCO paper, Section 6.2).
//
// It is process memory of the node under a reader-writer lock, one Flag: the writer's bit and the number of readers. A
// reader that finds a writer steps back, so a writer waits only for readers that came before it. Taking the lock takes
// simulated time; searching and changing the table does not.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/store/kv_table.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class kv_index {
 public:
  explicit kv_index(Transport& transport) : transport_(transport), lock_(transport) {}

  [[nodiscard]] std::optional<kv_location> find(std::uint64_t key);
  void insert(std::uint64_t key, const kv_location& where);
  void erase(std::uint64_t key);
  /// Takes no lock: call it before the index is shared, as load() does.
  [[nodiscard]] bool empty() const { return table_.size() == 0; }
  void reserve(std::uint64_t keys) { table_.reserve(keys); }
  /// Inserts without a lock, before the index is shared. Returns false if the key is there already.
  bool load(std::uint64_t key, const kv_location& where) { return table_.insert(key, where); }

 private:
  template <typename Change>
  void write(Change change);

  Transport& transport_;
  owned_flag lock_;
  kv_table table_;
};

}  // namespace loco
