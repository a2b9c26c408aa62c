// What rows of several commands say.
#pragma once

#include <cstdint>
#include <string_view>

namespace loco::commands {

inline constexpr std::string_view kJson = "Print JSON in place of text";
inline constexpr std::string_view kTimes = "In JSON: how long it took on this machine, too, which no two runs agree on";
inline constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

}  // namespace loco::commands
