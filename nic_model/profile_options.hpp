// The options of a hardware profile: the one source of its YAML keys, units, ranges and descriptions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "nic_model/profile.hpp"
#include "options/option.hpp"

namespace loco::nic {

/// By number of Placement.
inline constexpr std::array<std::string_view, 5> kPlacementNames = {"in_order", "out_of_order", "unordered",
                                                                    "reads_overtake", "serial"};

/// With keys "group.name". The defaults are those of a default-constructed HardwareProfile.
[[nodiscard]] std::span<const options::Option> profile_options();

/// What a profile has of one of these options.
[[nodiscard]] std::int64_t value(const HardwareProfile& profile, const options::Option& option);
/// Sets it, and what goes with it: pcie.rate and the width of the link say the same. Precondition: in range.
void set_value(HardwareProfile& profile, const options::Option& option, std::int64_t value);

}  // namespace loco::nic
