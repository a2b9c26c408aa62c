// A pending event as the queue stores it, and the key that orders events.
#pragma once

#include <cstdint>

#include "sim/time.hpp"

namespace loco::sim {

/// What happens and where, with two words for the model that handles it.
struct Event {
  SimTime at;
  std::uint16_t what = 0;     ///< event kind; each component owns a range, see the model's own header
  std::uint8_t priority = 0;  ///< for equal times lower values run first
  std::uint32_t where = 0;    ///< index of the component or slot concerned
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  bool operator==(const Event&) const = default;
};

/// From this priority on, events of equal time and priority are ordered by their own rank instead of by the order of
/// insertion.
inline constexpr std::uint8_t kRanked = 0x80;

/// Orders events. From the top bit down: time (64, sign flipped), priority (8), sequence or rank (28), slot (28).
__extension__ using EventKey = unsigned __int128;

inline constexpr unsigned kSlotBits = 28;

[[nodiscard]] inline std::uint64_t time_of(EventKey key) { return static_cast<std::uint64_t>(key >> 64U); }
[[nodiscard]] inline std::uint32_t slot_of(EventKey key) {
  return static_cast<std::uint32_t>(key) & ((1U << kSlotBits) - 1);
}

/// Storage of an event while it is pending.
struct EventSlot {
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  Event event;
  std::uint64_t order = 0;  ///< the lower half of its key; kFree while the slot is free
  std::uint32_t generation = 0;
  std::uint32_t next = 0;  ///< the next free slot, or the next event of a list

  [[nodiscard]] std::uint64_t time() const { return static_cast<std::uint64_t>(event.at.ps) ^ (1ULL << 63U); }
  [[nodiscard]] EventKey key() const { return static_cast<EventKey>(time()) << 64U | order; }
  /// False if the event of this key has run or was cancelled.
  [[nodiscard]] bool holds(EventKey key) const { return order == static_cast<std::uint64_t>(key); }
};

}  // namespace loco::sim
