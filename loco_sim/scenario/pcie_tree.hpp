// The PCIe tree of a host: `pcie` and `devices` of an entry of `hosts`.
#pragma once

#include <span>
#include <string>

#include "loco_sim/scenario/settings.hpp"
#include "nic_model/config.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The keys of one of `devices`, and of one of `pcie.switches`.
[[nodiscard]] std::span<const Option> device_options();
[[nodiscard]] std::span<const Option> switch_options();

/// Reads both into `host`; `prefix` is the path of the entry with its dot, `s` what it says. How many NICs `devices`
/// names is returned. Throws text::InputError for a switch or socket that is not there, a name that two switches have,
/// and a switch behind itself.
std::uint32_t read_pcie_tree(const yaml::Node& entry, const std::string& prefix, const Settings& s,
                             const nic::HardwareProfile& nic, nic::HostConfig& host);

}  // namespace loco::scenario
