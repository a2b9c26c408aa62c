// A bounded number of things under way at once (PCIe tags, credits), as one word of state.
//
// The virtual scheduling algorithm of ATM (ITU-T I.371, annex A): with room for `capacity` units that each stay for
// `hold`, the first `capacity` units pass at once and a longer train at capacity / hold. It delays, it orders nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/time.hpp"

namespace loco::nic {

struct Window {
  sim::SimTime theoretical{};

  /// How long `units` that come now have to wait. A capacity of 0 has no limit.
  sim::Duration admit(sim::SimTime now, std::uint64_t units, std::uint64_t capacity, sim::Duration hold) {
    if (capacity == 0) return {};
    theoretical = std::max(theoretical, now);
    const sim::Duration wait = theoretical + span(std::min(units, capacity), capacity, hold) - hold - now;
    theoretical += span(units, capacity, hold);
    return std::max(wait, sim::Duration{});
  }
  bool operator==(const Window&) const = default;

 private:
  static sim::Duration span(std::uint64_t units, std::uint64_t capacity, sim::Duration hold) {
    __extension__ using Wide = unsigned __int128;
    return {static_cast<std::int64_t>(Wide{units} * static_cast<std::uint64_t>(hold.ps) / capacity)};
  }
};

}  // namespace loco::nic
