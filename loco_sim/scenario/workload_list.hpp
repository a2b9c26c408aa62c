// `workload` and `workloads`: what the hosts of a scenario do, one kind or several at once (docs/flows.md).
#pragma once

#include <string>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// Reads the parameters of a kind, whose settings lie at `prefix` (`workload.`), for this number of nodes. Adds the
/// files that they name to the scenario's inputs. Throws InputError.
[[nodiscard]] workloads::Params read_parameters(const Settings& settings, const std::string& prefix,
                                                const std::string& kind, std::uint32_t nodes, Scenario& out);

/// Reads `workload.ranks` of a collective: its nodes by rank. Throws InputError.
[[nodiscard]] std::vector<NodeId> read_ranks(const yaml::Node& node, std::uint32_t nodes);

/// Reads `workload.sizes` of a collective. Needs its other parameters in the scenario. Throws InputError.
void read_sizes(const yaml::Node& node, Scenario& out);

/// Reads `workloads`, a list of maps with a workload's keys and name, nodes and start. Throws InputError.
void read_workload_list(const yaml::Node& node, Scenario& out);

/// The entry with that name, for overrides such as `workloads.NAME.size`; null if there is none.
[[nodiscard]] yaml::Node* find_workload(yaml::Node& root, std::string_view name);

}  // namespace loco::scenario
