// Scenarios whose workload is programs: `workload: {kind: programs, hosts: {0: [ib_send_bw, -a], ...}}`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/options.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco::cli {

/// Does the file, or the scenario of that name, run programs? False for what is no scenario at all: its reader says so.
[[nodiscard]] bool runs_programs(const std::string& path_or_name);

/// The machine and its programs. All keys hold that concern hardware, network, failures and limits. Throws
/// text::InputError.
[[nodiscard]] exec::Options load_programs(const std::string& path_or_name,
                                          const std::vector<scenario::Override>& overrides);

}  // namespace loco::cli
