// One pass over a trace at one level: events in program order, ppo by the chains, so and ib by the checkers.
#pragma once

#include <cstdint>
#include <span>

#include "model/level.hpp"
#include "model/library_checker.hpp"
#include "model/order.hpp"
#include "model/stamps.hpp"

namespace loco::model {

struct LevelCounts {
  std::uint64_t calls = 0;
  std::uint64_t subevents = 0;
};

/// Adds the level's edges to `order`, but those of the cells `without`, and its violated predicates to `reports`.
LevelCounts run_level(Level& level, Order& order, Reports& reports, std::span<const StampPair> without = {});

}  // namespace loco::model
