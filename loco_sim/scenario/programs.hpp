// Scenarios whose workload is compiled programs: `workload: {kind: programs, hosts: {0: [ib_send_bw]}}`. They run with
// `loco-sim exec`; the rest of such a scenario is read like that of any other.
#pragma once

#include <string>
#include <string_view>

#include "yaml/node.hpp"

namespace loco::scenario {

/// The workload of such a scenario; null if the scenario has another one or none.
[[nodiscard]] const yaml::Node* programs_workload(const yaml::Node& root);

/// The same for a text; `file` is its name in error messages. False for text that is not YAML, which its reader
/// reports.
[[nodiscard]] bool runs_programs(std::string_view text, const std::string& file);

}  // namespace loco::scenario
