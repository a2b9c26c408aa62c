// Traffic classes: `fabric.classes`, and a workload's own class and congestion control.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The keys of an entry of `fabric.classes`.
[[nodiscard]] std::span<const Option> class_options();
/// The keys of a workload's `congestion`: those of fabric.congestion, and dcqcn's.
[[nodiscard]] std::span<const Option> congestion_options();

/// Reads `fabric.classes`. Needs the fabric's own options.
void read_classes(const yaml::Node& node, Scenario& out);

/// Requires a class that `fabric.classes` has, or 0.
void require_class(const Value& value, const std::string& path, const Scenario& out);

/// Reads `class`, `ack_class` and `congestion` of the workload `node`, whose keys begin with `prefix`.
[[nodiscard]] Service read_service(const yaml::Node& node, const Settings& settings, const std::string& prefix,
                                   Scenario& out);

/// Checks the classes that flows of a list may have.
void require_classes_of_flows(const Settings& settings, const std::string& prefix, const std::string& kind,
                              const workloads::Params& parameters, std::uint32_t nodes, const Scenario& out);

}  // namespace loco::scenario
