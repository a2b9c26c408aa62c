// The files that come with the simulator: where they lie, and scenarios by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loco::scenario {

/// Where a folder of ours such as "hardware" is looked for, first hit wins: in $LOCO_SIM_DATA, beside the executable,
/// in the data directory installed with it, in a Python package's, in the source tree, in that of this build's own
/// prefix.
[[nodiscard]] std::vector<std::string> data_directories(std::string_view folder);

/// Names of the scenarios that come with the simulator, sorted: "quickstart", "fabric/flow".
[[nodiscard]] std::vector<std::string> scenario_names();

/// The file that a user means: a path as it is; a name without a file of that path ("quickstart", "flow" where only one
/// folder has it), that of the scenario that comes with the simulator. Throws text::InputError when there is neither.
[[nodiscard]] std::string find_scenario(const std::string& path_or_name);

}  // namespace loco::scenario
