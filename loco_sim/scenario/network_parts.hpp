// What the readers of `topology` and `fabric` share: lists and vertices in a document.
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

/// Throws an text::InputError that shows what is there in place of what was expected.
[[noreturn]] void refuse(const yaml::Node& node, const std::string& path, const std::string& expected);

/// The items of a list; what is none is refused as no list `of` these.
[[nodiscard]] const std::vector<yaml::Node>& list(const yaml::Node& node, std::string_view path, std::string_view of);

/// `5`, or `4-7`: the first host and the last.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> host_range(const yaml::Node& node, const std::string& path,
                                                                 std::uint32_t hosts, const std::string& expected);

/// A vertex by its name: `h0`, `s3`.
[[nodiscard]] fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, std::uint32_t hosts,
                                                std::uint32_t switches);

struct Scenario;

/// `capture`, whose links are those of this network. Called when hardware, schedule and network are known.
void read_capture(const yaml::Node& root, const Settings& settings, const fabric::topology::Topology& graph,
                  Scenario& out);

}  // namespace loco::scenario
