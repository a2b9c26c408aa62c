// The tables of what commands take.
#pragma once

#include <span>

#include "options/command.hpp"

namespace loco::commands {

/// In the order of `--help`. Their owners are objects of that type.
template <class Command>
[[nodiscard]] std::span<const options::Row> rows() = delete;

}  // namespace loco::commands
