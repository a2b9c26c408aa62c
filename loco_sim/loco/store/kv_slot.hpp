// A slot of the key-value store: three words, of which the last says whether the two before belong together (LOCO
// paper, App. I). How a key's location counts the uses of a slot: kv_table.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "loco_sim/loco/memory/checksum.hpp"

namespace loco::kv_slot {

/// A slot's words.
enum SlotWord : std::uint64_t { kSlotState = 0, kSlotValue = 1, kSlotSum = 2 };

/// The use of the slot that this is, and whether its key is in the store.
[[nodiscard]] constexpr std::uint64_t state_of(std::uint64_t counter, bool valid) {
  return counter << 1U | (valid ? 1 : 0);
}
/// The checksum of what a lookup must find together.
[[nodiscard]] constexpr std::uint64_t sum_of(std::uint64_t counter, std::uint64_t value) {
  return checksum(std::array<std::uint64_t, 2>{counter, value});
}

}  // namespace loco::kv_slot
