// The network of a scenario: `topology` and `fabric`. Keys, ranges and texts come from the tables of fabric/.
#pragma once

#include <span>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The parameters of all kinds of topology but `nodes`, without defaults, which differ from kind to kind.
[[nodiscard]] std::span<const Option> topology_options();

/// Sets topology, nodes and network; needs the hardware and the seed.
void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out);

/// Builds the network once, so that what does not fit together is told: when everything cheaper has been looked at.
void require_network_that_fits(const yaml::Node& root, const Settings& settings, const Scenario& scenario);

}  // namespace loco::scenario
