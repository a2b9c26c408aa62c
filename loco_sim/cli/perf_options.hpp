// The options of `loco-sim perf`, as perftest spells them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "loco_sim/cli/commands.hpp"

namespace loco::cli {

/// Adds the command, and below it a command for each test; `chosen` becomes what the command line asks for.
void add_perf(CLI::App& app, PerfArguments& arguments, PerfValidateArguments& validate, std::function<int()>& chosen);

}  // namespace loco::cli
