// `fabric.failures` of a scenario: links that fail and recover, hosts that stop.
#pragma once

#include "fabric/topology/topology.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// Reads `[{link: [h0, s0], down: 1ms, up: 2ms, loss: 1000}, {host: h2, stops: 50us}, ...]`. Needs the hardware, the
/// schedule and the model of the network.
void read_failures(const yaml::Node& node, const fabric::topology::Topology& graph, Scenario& out);

}  // namespace loco::scenario
