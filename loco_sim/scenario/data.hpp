// The files that come with the simulator, their directories and scenarios by name; files that other files name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loco::scenario {

/// The directories that may have a folder such as "hardware", first match wins: $LOCO_SIM_DATA, beside the executable,
/// the installed data directory, a Python package's, the source tree, this build's own prefix.
[[nodiscard]] std::vector<std::string> data_directories(std::string_view folder);

/// Sorted names of the scenarios that come with the simulator, such as "quickstart" or "fabric/flow".
[[nodiscard]] std::vector<std::string> scenario_names();

/// The file that a user means: a path, or the name of a scenario that comes with the simulator ("quickstart"; also
/// "flow" if only one folder has it). A file of that path takes precedence. Throws text::InputError if there is
/// neither.
[[nodiscard]] std::string find_scenario(const std::string& path_or_name);

/// A file that the file `by` names: the one beside it if there is such a one, else the one in the working directory.
[[nodiscard]] std::string find_beside(const std::string& by, const std::string& name);

}  // namespace loco::scenario
