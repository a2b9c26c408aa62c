// The network of a scenario: `topology` and `fabric`. Keys, ranges and texts come from the tables of fabric/.
#pragma once

#include <span>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The parameters of all kinds of topology but `nodes`, without defaults, which differ from kind to kind.
[[nodiscard]] std::span<const Option> topology_options();

/// Sets topology, nodes and network; needs the hardware and the seed. Builds the network once, so that what does not
/// fit together is told here.
void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out);

}  // namespace loco::scenario
