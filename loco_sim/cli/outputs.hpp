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

/// The same check for one file and these inputs. The file is named by `key` at the place `said` (line 0: the command
/// line).
void require_apart(const std::string& written, const text::Place& said, const std::string& key,
                   const std::vector<scenario::InputFile>& inputs);

}  // namespace loco::cli
