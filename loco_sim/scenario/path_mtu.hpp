// `fabric.path_mtu` of a scenario: hosts whose queue pairs have another path MTU than the links.
#pragma once

#include "loco_sim/scenario/scenario.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// Reads `[{host: h1, mtu: 1024B}, ...]`, with an MTU of verbs (256 B to 4096 B) that the hardware's links support.
/// Needs the hardware, the number of nodes and the model of the network.
void read_path_mtu(const yaml::Node& node, Scenario& out);

}  // namespace loco::scenario
