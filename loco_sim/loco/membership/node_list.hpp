// Lists of nodes, as programs give them and as errors print them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Sorts the nodes and drops duplicates.
[[nodiscard]] inline std::vector<NodeId> ascending(std::vector<NodeId> nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// "1, 4". Of more than sixteen nodes it prints ten and the number of the others.
[[nodiscard]] inline std::string list_of(std::span<const NodeId> nodes) {
  constexpr std::size_t kAll = 16;
  constexpr std::size_t kFirst = 10;
  const std::size_t listed = nodes.size() <= kAll ? nodes.size() : kFirst;
  std::string text;
  for (const NodeId node : nodes.first(listed)) text += (text.empty() ? "" : ", ") + std::to_string(node);
  return listed == nodes.size() ? text : text + " and " + std::to_string(nodes.size() - listed) + " more";
}

/// "as are node(s) 1, 4", or "as is none"
[[nodiscard]] inline std::string text_of(const std::vector<NodeId>& nodes) {
  return nodes.empty() ? "as is none" : "as are node(s) " + list_of(nodes);
}

}  // namespace loco
