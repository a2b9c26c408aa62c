// A command writes no file that it reads, and no file twice.
#pragma once

#include <CLI/CLI.hpp>

namespace loco::cli {

/// Looks at the arguments that have been parsed. Throws text::InputError: `FILE: expected another file to write, found
/// one that the command reads (HARDWARE)`.
void require_outputs_apart(const CLI::App& app);

}  // namespace loco::cli
