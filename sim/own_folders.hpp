// Where this program is, so that files installed with it can be found.
#pragma once

#include <filesystem>
#include <optional>

namespace loco::sim {

/// Members are empty if the system does not say.
struct OwnFolders {
  std::optional<std::filesystem::path> program;  ///< of the running program, which may be an interpreter
  std::optional<std::filesystem::path> code;     ///< of the file with this code: the program, or a Python extension
  std::optional<std::filesystem::path> prefix;   ///< the prefix that this build is installed below, if it is installed
};

[[nodiscard]] OwnFolders own_folders();

}  // namespace loco::sim
