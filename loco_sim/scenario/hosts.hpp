// `hosts` of a scenario: hosts with other hardware than `hardware`, several NICs, or GPUs.
#pragma once

#include <span>

#include "fabric/topology/topology.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The keys of an entry of `hosts`.
[[nodiscard]] std::span<const Option> host_options();

/// Reads `[{nodes: [0-15], hardware: cx7-ib-ndr, nics: 8, devices: [{kind: gpu, count: 8, switch: 0}]}, ...]`. Needs
/// the number of hosts, the hardware and the kind of topology.
void read_hosts(const yaml::Node& node, const Settings& settings, Scenario& out);

/// A vertex of the network by its name: `h0` is host 0's first NIC, `h0.1` its second one, `h0.1.1` the second port of
/// that, `s3` a switch.
[[nodiscard]] fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, const Scenario& out,
                                                std::uint32_t switches);
/// Ports of all NICs of all hosts.
[[nodiscard]] std::uint32_t ports(const Scenario& out);

}  // namespace loco::scenario
