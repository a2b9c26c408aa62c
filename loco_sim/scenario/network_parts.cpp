#include "loco_sim/scenario/network_parts.hpp"

#include <fmt/format.h>
#include <optional>

#include "loco_sim/scenario/input_error.hpp"

namespace loco::scenario {

void refuse(const DocumentNode& node, const std::string& path, const std::string& expected) {
  throw InputError(node.place, path, expected, node.description());
}

const std::vector<DocumentNode>& list(const DocumentNode& node, std::string_view path, std::string_view of) {
  if (node.kind != DocumentNode::Kind::list) refuse(node, std::string(path), fmt::format("a list of {}", of));
  return node.items;
}

fabric::topology::VertexId vertex(const DocumentNode& node, const std::string& path, std::uint32_t hosts,
                                  std::uint32_t switches) {
  const auto v = node.kind == DocumentNode::Kind::scalar ? fabric::topology::vertex_of(node.text, hosts, switches)
                                                         : std::optional<fabric::topology::VertexId>();
  if (!v)
    refuse(node, path, fmt::format("one of {} hosts (h0, h1, ...) or {} switches (s0, s1, ...)", hosts, switches));
  return *v;
}

}  // namespace loco::scenario
