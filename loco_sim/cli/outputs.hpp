// A command writes no file that it reads, and no file twice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "loco_sim/scenario/scenario.hpp"
#include "text/input_error.hpp"

namespace loco::cli {

/// Looks at the arguments that have been parsed. Throws text::InputError: `FILE: expected another file to write, found
/// one that the command reads (HARDWARE)`. The base of a hardware profile counts as read.
void require_outputs_apart(const CLI::App& app);

/// The same for one file, said at a place (of line 0: on the command line) by a key, and these inputs.
void require_apart(const std::string& written, const text::Place& said, const std::string& key,
                   const std::vector<scenario::InputFile>& inputs);

}  // namespace loco::cli
