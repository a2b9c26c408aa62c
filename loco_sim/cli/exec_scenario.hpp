// Scenarios whose workload is programs: `workload: {kind: programs, hosts: {0: [ib_send_bw, -a], ...}}`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/options.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco::cli {

/// Whether the file, or the scenario of that name, runs programs. False for a file that is no scenario: the error comes
/// from its reader.
[[nodiscard]] bool runs_programs(const std::string& path_or_name);

struct ProgramsScenario {
  exec::Options options;
  std::string trace_path;  ///< empty: no file
};

/// The machine and its programs. Keys hold that concern hardware, network, failures, limits and the trace's file; those
/// that mean nothing for programs are refused. Throws text::InputError.
[[nodiscard]] ProgramsScenario load_programs(const std::string& path_or_name,
                                             const std::vector<scenario::Override>& overrides);

}  // namespace loco::cli
