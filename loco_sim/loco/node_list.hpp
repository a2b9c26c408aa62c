// Nodes that a program lists.
#pragma once

#include <algorithm>
#include <span>
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

/// "1, 4"
[[nodiscard]] inline std::string list_of(std::span<const NodeId> nodes) {
  std::string text;
  for (const NodeId node : nodes) text += (text.empty() ? "" : ", ") + std::to_string(node);
  return text;
}

/// "as are node(s) 1, 4", or "as is none"
[[nodiscard]] inline std::string text_of(const std::vector<NodeId>& nodes) {
  return nodes.empty() ? "as is none" : "as are node(s) " + list_of(nodes);
}

}  // namespace loco
