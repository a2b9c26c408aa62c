#include "loco_sim/loco/store/kv_table.hpp"

#include <array>
#include <string>
#include <utility>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/memory/checksum.hpp"

namespace loco {

kv_table::Entry kv_table::packed(std::uint64_t key, const kv_location& where) {
  const std::uint64_t place = std::uint64_t{where.node} << kSlotBits | where.slot;
  if (where.slot >> kSlotBits != 0 || place >> kSlotBits != where.node || place == kFree)
    throw size_error("index of a key-value store: node " + std::to_string(where.node) + ", slot " +
                     std::to_string(where.slot) + " has no place in it");
  return {key, where.counter, place};
}

std::size_t kv_table::home(std::uint64_t key) const {
  return static_cast<std::size_t>(checksum(std::array<std::uint64_t, 1>{key})) & (entries_.size() - 1);
}

std::size_t kv_table::place_of(std::uint64_t key) const {
  std::size_t at = home(key);
  while (entries_[at].place != kFree && entries_[at].key != key) at = next(at);
  return at;
}

std::optional<kv_location> kv_table::find(std::uint64_t key) const {
  const Entry& entry = entries_[place_of(key)];
  if (entry.place == kFree) return std::nullopt;
  return kv_location{static_cast<NodeId>(entry.place >> kSlotBits), entry.place & ((std::uint64_t{1} << kSlotBits) - 1),
                     entry.counter};
}

bool kv_table::insert(std::uint64_t key, const kv_location& where) {
  const std::size_t at = place_of(key);
  if (entries_[at].place != kFree) return false;
  add(at, packed(key, where));
  return true;
}

void kv_table::insert_or_assign(std::uint64_t key, const kv_location& where) {
  const Entry entry = packed(key, where);
  const std::size_t at = place_of(key);
  if (entries_[at].place == kFree) return add(at, entry);
  entries_[at] = entry;
}

void kv_table::add(std::size_t at, const Entry& entry) {
  entries_[at] = entry;
  if (++size_ > entries_.size() / 8 * 7) grow();
}

void kv_table::reserve(std::size_t keys) {
  std::size_t places = entries_.size();
  while (places / 8 * 7 < keys) places *= 2;
  if (places > entries_.size()) entries_ = std::vector<Entry>(places);
}

void kv_table::grow() {
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
  for (const Entry& entry : old) {
    if (entry.place != kFree) entries_[place_of(entry.key)] = entry;
  }
}

/// Closes the gap, where a later search would stop: an entry after it moves into it if its home is at or before the
/// gap.
void kv_table::erase(std::uint64_t key) {
  std::size_t gap = place_of(key);
  if (entries_[gap].place == kFree) return;
  --size_;
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = next(gap); entries_[i].place != kFree; i = next(i)) {
    if (((i - home(entries_[i].key)) & mask) < ((i - gap) & mask)) continue;
    entries_[gap] = entries_[i];
    gap = i;
  }
  entries_[gap].place = kFree;
}

}  // namespace loco
