// Finds the place in a program's source where something has happened.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "exec/options.hpp"

namespace loco::exec {

/// The file and offset of a code address in a process.
[[nodiscard]] CodePlace code_place(pid_t process, std::uint64_t address);
/// `main.c:23`, as addr2line (Debian's binutils) gives it; without addr2line or without the program's symbols,
/// `program+0x1234`.
[[nodiscard]] std::string source_line(const CodePlace& place);
/// A line for the user: `host 0: main.c:23: this load may see the old value, ...`.
[[nodiscard]] std::string mistake(const Race& race);

}  // namespace loco::exec
