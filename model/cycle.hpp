// The shortest cycle of a materialised order.
#pragma once

#include <optional>
#include <vector>

#include "model/graph.hpp"
#include "model/order.hpp"
#include "model/poll.hpp"

namespace loco::model {

struct CycleEdge {
  PointId from = 0;
  PointId to = 0;
  Rule rule = Rule::ppo;
};

/// No value: the order is acyclic. Otherwise a cycle with as few edges between threads (rf, rb, so, ...) as any,
/// where program order and mo along the way count nothing; chain points left out. Exact while the search stays within a
/// fixed bound, after which the best cycle so far is given. Frees the order's edges.
[[nodiscard]] std::optional<std::vector<CycleEdge>> find_cycle(Order& order, const Poll& poll);

/// A path between two points, as short as cycles are counted, chain points left out. Empty: there is none.
[[nodiscard]] std::vector<CycleEdge> shortest_path(const Order& order, const Adjacency& graph, PointId from, PointId to,
                                                   const Poll& poll);

}  // namespace loco::model
