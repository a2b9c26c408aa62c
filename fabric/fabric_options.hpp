// The options of the packet fabric: the one source of its keys (below `fabric.` of a scenario), units, ranges and
// descriptions.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "fabric/options.hpp"
#include "options/option.hpp"

namespace loco::fabric {

/// By number of Routing.
inline constexpr std::array<std::string_view, 4> kRoutingNames = {"deterministic", "ecmp", "adaptive", "spray"};

/// Members of Options. The defaults are those of a default-constructed one.
[[nodiscard]] std::span<const options::Option> fabric_options();

}  // namespace loco::fabric
