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

/// The machine and its programs. All keys hold that concern hardware, network, failures and limits. Throws
/// text::InputError.
[[nodiscard]] exec::Options load_programs(const std::string& path_or_name,
                                          const std::vector<scenario::Override>& overrides);

}  // namespace loco::cli
