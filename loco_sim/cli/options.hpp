// The commands and their options as CLI11 takes them: what can be said, not what it does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "loco_sim/cli/commands.hpp"

namespace loco::cli {

/// Of all commands: each fills its own.
struct Arguments {
  RunArguments run;
  CheckArguments check;
  ListArguments list;
  ExportArguments trace_export;
  bool reference = false;  ///< of schema
  std::string shell;       ///< of completion
  LitmusArguments litmus;
  GenerateArguments generate;
  CorermaArguments corerma;
  FitArguments fit;
  RobustArguments robust;
  SoundnessArguments soundness;
  PerfArguments perf;
  VerifyArguments verify;
  ExecArguments exec;
  PerfValidateArguments perf_validate;
  std::string project;  ///< folder of new
  SweepArguments sweep;
  ReportArguments report;
  ConformanceArguments conformance;
};

/// What the command that was named does; it gives the exit code.
using Chosen = std::function<int()>;

inline constexpr const char* kJsonHelp = "Print JSON in place of text";
inline constexpr const char* kTimesHelp = "In JSON: how long it took on this machine, too, which no two runs agree on";

/// All commands but those about the command line itself, in the order of `--help`. `a` and `chosen` outlive the app.
void add_commands(CLI::App& app, Arguments& a, Chosen& chosen);
/// Of these litmus, generate, corerma, fit, robust, soundness and verify.
void add_model_commands(CLI::App& app, Arguments& a, Chosen& chosen);

}  // namespace loco::cli
