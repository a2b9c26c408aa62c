#include "loco_sim/scenario/network_parts.hpp"

#include <fmt/format.h>
#include <optional>

#include "text/input_error.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

void refuse(const yaml::Node& node, const std::string& path, const std::string& expected) {
  throw text::InputError(node.place, path, expected, node.description());
}

const std::vector<yaml::Node>& list(const yaml::Node& node, std::string_view path, std::string_view of) {
  if (node.kind != yaml::Node::Kind::list) refuse(node, std::string(path), fmt::format("a list of {}", of));
  return node.items;
}

fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, std::uint32_t hosts,
                                  std::uint32_t switches) {
  const auto v = node.kind == yaml::Node::Kind::scalar ? fabric::topology::vertex_of(node.text, hosts, switches)
                                                       : std::optional<fabric::topology::VertexId>();
  if (!v)
    refuse(node, path, fmt::format("one of {} hosts (h0, h1, ...) or {} switches (s0, s1, ...)", hosts, switches));
  return *v;
}

}  // namespace loco::scenario
