// A cycle of points, shortened and put into words.
#pragma once

#include <vector>

#include "model/check.hpp"
#include "model/cycle.hpp"
#include "model/level.hpp"

namespace loco::model {

[[nodiscard]] Violation explain_cycle(const Level& level, const Order& order, std::vector<CycleEdge> cycle);

}  // namespace loco::model
