// A node's index of a key-value store: where each key's value is (LOCO paper, Section 6.2).
//
// Process memory of the node under its reader-writer lock, a word of flags: the writer's bit, and how many readers are
// inside. Readers that find a writer step back, so a writer waits for the readers that were before it only. Searches
// and changes of the table itself take no simulated time; taking the lock does.
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
  /// Before anybody else uses it, as load(): takes no lock.
  [[nodiscard]] bool empty() const { return table_.size() == 0; }
  void reserve(std::uint64_t keys) { table_.reserve(keys); }
  /// An insert before anybody else uses the index: takes no lock. False when the key is there already.
  bool load(std::uint64_t key, const kv_location& where) { return table_.insert(key, where); }

 private:
  template <typename Change>
  void write(Change change);

  Transport& transport_;
  owned_flag lock_;
  kv_table table_;
};

}  // namespace loco
