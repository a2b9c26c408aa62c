// Hardware profiles by name or path: hardware/*.yaml read into nic::HardwareProfile.
//
// The keys are those of nic_model/profile_options.hpp. A profile may say `base: NAME` and change a few fields of
// another one. Throws InputError.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/scenario/settings.hpp"
#include "nic_model/profile.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

/// What a scenario runs on that names none, and what a map without a `base` starts from.
inline constexpr const char* kDefaultHardware = "cx5-roce-25g";

struct Hardware {
  std::string name;
  std::string description;
  nic::HardwareProfile profile;
  std::vector<std::string> files = {};  ///< that it was read from: its own first, then what it starts from
};

/// Where profiles are looked for, first hit wins (data.hpp).
[[nodiscard]] std::vector<std::string> hardware_directories();

/// Names of all profiles found, sorted.
[[nodiscard]] std::vector<std::string> hardware_names();

/// Sets what is given of the options of transports, with keys that begin with `prefix`.
void set_transport(nic::HardwareProfile& profile, const Settings& settings, const std::string& prefix);

/// The profile of that name, or, when it has a slash or ends in .yaml, of that file.
[[nodiscard]] Hardware load_hardware(const std::string& name);

/// The value of a scenario's key `hardware`: a name; a map with `base` and changed fields; or one that names a profile
/// for the NIC and its network (`nic`), one for the CPU and PCIe around it (`host`), or both, and may change fields.
[[nodiscard]] Hardware read_hardware(const yaml::Node& node);

}  // namespace loco::scenario
