// Starts a program: finds it, checks it, forks, and executes it with the shim preloaded.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "exec/options.hpp"

namespace loco::exec {

/// The program's path. Throws RefusedProgram if there is no such program or the shim cannot be preloaded: not
/// dynamically linked, of another architecture, privileged, or with a libibverbs of its own.
[[nodiscard]] std::string find_program(const std::string& name);

/// The program's standard descriptors; -1 means /dev/null for input, and this process's own for output.
struct Standard {
  int in = -1, out = -1, err = -1;
};

/// Starts the program and returns its process id. It ends together with this process. Throws std::system_error.
[[nodiscard]] pid_t launch(const std::string& path, const ProgramSpec& program, const std::string& shim_folder,
                           int channel, const Standard& standard);

}  // namespace loco::exec
