// The options of `loco-sim exec`, and the programs behind them.
#pragma once

#include "loco_sim/cli/options.hpp"

namespace loco::cli {

void add_exec(CLI::App& app, ExecArguments& a, Chosen& chosen);

/// What comes behind `--` is the programs', whatever it looks like. How many arguments are ours.
int take_programs(int argc, char** argv, ExecArguments& a);

}  // namespace loco::cli
