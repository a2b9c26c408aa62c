// Nodes that a program lists.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// In ascending order, each once.
[[nodiscard]] inline std::vector<NodeId> ascending(std::vector<NodeId> nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// "as are nodes 1, 4"
[[nodiscard]] inline std::string text_of(const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) text += (text.empty() ? "as are node(s) " : ", ") + std::to_string(node);
  return text;
}

}  // namespace loco
