// A materialised order as a graph: edges by source, Kahn's and Tarjan's algorithms.
#pragma once

#include <cstdint>
#include <vector>

#include "model/order.hpp"
#include "model/poll.hpp"

namespace loco::model {

/// Edges of point p: those at [begin[p], begin[p + 1]).
struct Adjacency {
  std::vector<std::uint32_t> begin;
  std::vector<PointId> to;
  std::vector<Rule> rule;
};

/// Frees the order's own edges.
[[nodiscard]] Adjacency by_source(Order& order, const Poll& poll);

/// The points that can be taken away one after the other for want of predecessors (Kahn), in that order. All of
/// them when there is no cycle; the nodes left out hold every cycle.
[[nodiscard]] std::vector<PointId> topological_order(const Adjacency& graph, const Poll& poll);

/// For each point a number that it shares with those that lie on a cycle with it, and with no others (Tarjan,
/// "Depth-first search and linear graph algorithms", 1972).
[[nodiscard]] std::vector<std::uint32_t> strong_components(const Adjacency& graph, const Poll& poll);

}  // namespace loco::model
