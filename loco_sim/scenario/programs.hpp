// Scenarios whose workload is programs, which are compiled already: `workload: {kind: programs, hosts: {0:
// [ib_send_bw]}}`. `loco-sim exec` runs them; the rest of such a scenario is read like that of any other.
#pragma once

#include <string>
#include <string_view>

#include "yaml/node.hpp"

namespace loco::scenario {

/// The workload of such a scenario; null: it is another one, or none at all.
[[nodiscard]] const yaml::Node* programs_workload(const yaml::Node& root);

/// The same of a text, as which `file` is what errors call it. False for what is no YAML: its reader says so.
[[nodiscard]] bool runs_programs(std::string_view text, const std::string& file);

}  // namespace loco::scenario
