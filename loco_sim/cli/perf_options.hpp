// The options of `loco-sim perf`, as perftest spells them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/commands/perf.hpp"

namespace loco::cli {

/// Adds the command, and below it a command for each test; `chosen` becomes the call that runs the test.
void add_perf(CLI::App& app, commands::Perf& arguments, PerfValidateArguments& validate, std::function<int()>& chosen);

}  // namespace loco::cli
