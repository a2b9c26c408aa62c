// Where this program lies, so that what was installed with it is found.
#pragma once

#include <filesystem>
#include <optional>

namespace loco::sim {

/// Each without a value where the system does not say.
struct OwnFolders {
  std::optional<std::filesystem::path> program;  ///< of the running program, which may be an interpreter
  std::optional<std::filesystem::path> code;     ///< of the file with this code: the program, or a Python extension
  std::optional<std::filesystem::path> prefix;   ///< what this build is installed below, when it is
};

[[nodiscard]] OwnFolders own_folders();

}  // namespace loco::sim
