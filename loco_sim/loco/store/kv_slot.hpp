// A slot of the key-value store: three words, the last of which proves that the other two belong together (LOCO paper,
// App. I). kv_table.hpp explains the counter of a slot's generations.
#pragma once

#include <array>
#include <cstdint>

#include "loco_sim/loco/memory/checksum.hpp"

namespace loco::kv_slot {

/// A slot's words.
enum SlotWord : std::uint64_t { kSlotState = 0, kSlotValue = 1, kSlotSum = 2 };

/// The state word: the generation of the slot, and whether its key is in the store.
[[nodiscard]] constexpr std::uint64_t state_of(std::uint64_t counter, bool valid) {
  return counter << 1U | (valid ? 1 : 0);
}
/// The checksum over generation and value, which a lookup must find together.
[[nodiscard]] constexpr std::uint64_t sum_of(std::uint64_t counter, std::uint64_t value) {
  return checksum(std::array<std::uint64_t, 2>{counter, value});
}

}  // namespace loco::kv_slot
