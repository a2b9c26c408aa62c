// The options of a hardware profile: the only source of its YAML keys, units, ranges and descriptions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "nic_model/profile.hpp"
#include "options/option.hpp"

namespace loco::nic {

/// By value of Placement.
inline constexpr std::array<std::string_view, 5> kPlacementNames = {"in_order", "out_of_order", "unordered",
                                                                    "reads_overtake", "serial"};

/// The options, with keys "group.name". The defaults are those of a default-constructed HardwareProfile.
[[nodiscard]] std::span<const options::Option> profile_options();

/// The profile's value of this option.
[[nodiscard]] std::int64_t value(const HardwareProfile& profile, const options::Option& option);
/// Sets the option and what depends on it: pcie.rate and the width of the link determine each other. Precondition: the
/// value is in range.
void set_value(HardwareProfile& profile, const options::Option& option, std::int64_t value);

}  // namespace loco::nic
