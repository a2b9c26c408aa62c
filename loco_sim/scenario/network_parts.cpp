#include "loco_sim/scenario/network_parts.hpp"

#include <fmt/format.h>
#include <optional>

#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

void refuse(const yaml::Node& node, const std::string& path, const std::string& expected) {
  throw text::InputError(node.place, path, expected, node.description());
}

const std::vector<yaml::Node>& list(const yaml::Node& node, std::string_view path, std::string_view of) {
  if (node.kind != yaml::Node::Kind::list) refuse(node, std::string(path), fmt::format("a list of {}", of));
  return node.items;
}

std::pair<std::uint32_t, std::uint32_t> host_range(const yaml::Node& node, const std::string& path, std::uint32_t hosts,
                                                   const std::string& expected) {
  if (node.kind != yaml::Node::Kind::scalar) refuse(node, path, expected);
  const std::size_t dash = node.text.find('-');
  const auto first = text::parse_integer(node.text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : text::parse_integer(node.text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= hosts) refuse(node, path, expected);
  return {static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
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
