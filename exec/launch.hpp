// Starting a program: found, looked at, forked, executed with the shim in front of its libraries.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "exec/options.hpp"

namespace loco::exec {

/// The program's path. Throws RefusedProgram when there is none, or the shim could not be put in front of it: not
/// dynamically linked, of another architecture, privileged, a libibverbs of its own.
[[nodiscard]] std::string find_program(const std::string& name);

/// Descriptors that a program gets as its standard ones; -1: /dev/null for input, ours for output.
struct Standard {
  int in = -1, out = -1, err = -1;
};

/// Its process id. Ends with this process. Throws std::system_error.
[[nodiscard]] pid_t launch(const std::string& path, const ProgramSpec& program, const std::string& shim_folder,
                           int channel, const Standard& standard);

}  // namespace loco::exec
