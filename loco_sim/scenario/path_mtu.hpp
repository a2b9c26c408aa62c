// `fabric.path_mtu` of a scenario: hosts whose queue pairs have another path MTU than the links.
#pragma once

#include "loco_sim/scenario/scenario.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// `[{host: h1, mtu: 1024B}, ...]`: an MTU that verbs have (256 B to 4096 B) and the hardware's links carry. Needs the
/// hardware, the number of nodes and the model of the network.
void read_path_mtu(const yaml::Node& node, Scenario& out);

}  // namespace loco::scenario
