// Reads the network of a scenario: `topology` and `fabric`. Keys, ranges and texts come from the tables in fabric/.
#pragma once

#include <span>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The parameters of all kinds of topology except `nodes`, without defaults, which differ from kind to kind.
[[nodiscard]] std::span<const Option> topology_options();

/// Sets topology, nodes and network. Needs the hardware and the seed.
void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out);

/// Builds the network once to report what does not fit together. To call after all cheaper checks.
void require_network_that_fits(const yaml::Node& root, const Settings& settings, const Scenario& scenario);

}  // namespace loco::scenario
