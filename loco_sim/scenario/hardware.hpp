// Hardware profiles by name or path: reads hardware/*.yaml into nic::HardwareProfile.
//
// The keys are those of nic_model/profile_options.hpp. A profile may give `base: NAME` and change some fields of that
// profile. Throws InputError.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/scenario/settings.hpp"
#include "nic_model/profile.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// The hardware of a scenario that names none, and the base of a map without `base`.
inline constexpr const char* kDefaultHardware = "cx5-roce-25g";

struct Hardware {
  std::string name;
  std::string description;
  nic::HardwareProfile profile;
  std::vector<std::string> files = {};  ///< the files that it was read from: its own, then its bases
};

/// Directories in which profiles are searched, first match wins (data.hpp).
[[nodiscard]] std::vector<std::string> hardware_directories();

/// Names of all profiles found, sorted.
[[nodiscard]] std::vector<std::string> hardware_names();

/// Sets the given options of transports, whose keys begin with `prefix`.
void set_transport(nic::HardwareProfile& profile, const Settings& settings, const std::string& prefix);

/// The profile of that name, or of that file if the name has a slash or ends in .yaml.
[[nodiscard]] Hardware load_hardware(const std::string& name);

/// Reads a scenario's key `hardware`: a name; a map with `base` and changed fields; or a map that names a profile for
/// the NIC and its network (`nic`), one for the CPU and PCIe around it (`host`), or both, and may change fields.
[[nodiscard]] Hardware read_hardware(const yaml::Node& node);

}  // namespace loco::scenario
