// The tables of the commands' options.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "options/command.hpp"

namespace loco::commands {

/// In the order of `--help`. Their owners are objects of that type.
template <class Command>
[[nodiscard]] std::span<const options::Row> rows() = delete;

// Texts that several tables share.
inline constexpr std::string_view kJson = "Print JSON in place of text";
inline constexpr std::string_view kTimes = "In JSON: how long it took on this machine, too, which no two runs agree on";
inline constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

}  // namespace loco::commands
