// Traffic classes: `fabric.classes`, and the class and congestion control that a workload has of its own.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// What an entry of `fabric.classes` may have.
[[nodiscard]] std::span<const Option> class_options();
/// What `congestion` of a workload may have: the keys of fabric.congestion, and dcqcn's.
[[nodiscard]] std::span<const Option> congestion_options();

/// `fabric.classes`. Called when the fabric's own options are known.
void read_classes(const yaml::Node& node, Scenario& out);

/// A class that `fabric.classes` has, or 0.
void require_class(const Value& value, const std::string& path, const Scenario& out);

/// `class`, `ack_class` and `congestion` of the workload that is `node`, whose keys begin with `prefix`.
[[nodiscard]] Service read_service(const yaml::Node& node, const Settings& settings, const std::string& prefix,
                                   Scenario& out);

/// Flows of a list may have classes of their own.
void require_classes_of_flows(const Settings& settings, const std::string& prefix, const std::string& kind,
                              const workloads::Params& parameters, std::uint32_t nodes, const Scenario& out);

}  // namespace loco::scenario
