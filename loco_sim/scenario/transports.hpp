// `transport`: of a run, over what its hardware says, and of one of several workloads.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// `transport: uet` in a map is short for `transport: {kind: uet}`.
void spell_out_transport(yaml::Node& map);

/// That of the run. Called when the hardware is known. Throws InputError.
void read_transport(const yaml::Node& root, const Settings& settings, Scenario& out);

/// The `transport` of a workload, which is at `path`: Service::transport. Keys that it leaves out are the run's where
/// that is of the same kind. Called when the network is known. Throws InputError.
[[nodiscard]] std::uint8_t read_own_transport(const yaml::Node& node, const std::string& path, Scenario& out);

}  // namespace loco::scenario
