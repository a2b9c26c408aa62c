// The network of a scenario: `topology` and `fabric`. Keys, ranges and texts come from the tables of fabric/.
#pragma once

#include "loco_sim/scenario/keys.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The parameters of all kinds of topology but `nodes`, and the options of the fabric.
[[nodiscard]] KeyTable topology_parameter_keys();
[[nodiscard]] KeyTable fabric_keys();

/// Sets topology, nodes and network; needs the hardware and the seed. Builds the network once, so that what does not
/// fit together is told here.
void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out);

}  // namespace loco::scenario
