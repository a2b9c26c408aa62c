// What the readers of `topology` and `fabric` share: lists and vertices of a document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/topology/topology.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// Throws a text::InputError that shows what was found and what was expected.
[[noreturn]] void refuse(const yaml::Node& node, const std::string& path, const std::string& expected);

/// The items of a list. Anything else is refused as not being a list `of` these.
[[nodiscard]] const std::vector<yaml::Node>& list(const yaml::Node& node, std::string_view path, std::string_view of);

/// Reads `5` or `4-7`: the first and the last host.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> host_range(const yaml::Node& node, const std::string& path,
                                                                 std::uint32_t hosts, const std::string& expected);

/// A vertex by name: `h0`, `s3`.
[[nodiscard]] fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, std::uint32_t hosts,
                                                std::uint32_t switches);

struct Scenario;

/// Reads `capture`, whose links are those of this network. Needs hardware, schedule and network.
void read_capture(const yaml::Node& root, const Settings& settings, const fabric::topology::Topology& graph,
                  Scenario& out);

}  // namespace loco::scenario
