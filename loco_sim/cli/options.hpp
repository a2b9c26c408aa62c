// The commands and their options for CLI11; *_command.cpp run them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/commands/generate.hpp"
#include "loco_sim/commands/litmus.hpp"
#include "loco_sim/commands/networks.hpp"
#include "loco_sim/commands/perf.hpp"
#include "loco_sim/commands/robust.hpp"
#include "loco_sim/commands/verify.hpp"

namespace loco::cli {

/// Of all commands: each fills its own.
struct Arguments {
  RunArguments run;
  CheckArguments check;
  ListArguments list;
  ExportArguments trace_export;
  bool reference = false;  ///< of schema
  std::string shell;       ///< of completion
  commands::Litmus litmus;
  commands::Generate generate;
  commands::Corerma corerma;
  commands::Fit fit;
  commands::Robust robust;
  SoundnessArguments soundness;
  commands::Perf perf;
  commands::Verify verify;
  ExecArguments exec;
  PerfValidateArguments perf_validate;
  std::string project;  ///< folder of new
  SweepArguments sweep;
  ReportArguments report;
  ConformanceArguments conformance;
};

/// Runs the command that was named; returns the exit code.
using Chosen = std::function<int()>;

/// All commands but those about the command line itself, in the order of `--help`. `a` and `chosen` outlive the app.
void add_commands(CLI::App& app, Arguments& a, Chosen& chosen);

}  // namespace loco::cli
