// The options of `loco-sim exec`, and the programs behind them.
#pragma once

#include "loco_sim/cli/options.hpp"

namespace loco::cli {

void add_exec(CLI::App& app, ExecArguments& a, Chosen& chosen);

/// The number of arguments that belong to loco-sim: all words behind `--` belong to the programs.
int take_programs(int argc, char** argv, ExecArguments& a);

}  // namespace loco::cli
