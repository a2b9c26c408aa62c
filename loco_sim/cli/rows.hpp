// A table of rows (options/command.hpp) as options of CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "options/command.hpp"

namespace loco::cli {

/// In their order. `rows` and `owner` outlive the app. Rows without names are Python's.
void add_rows(CLI::App& command, std::span<const options::Row> rows, void* owner);

/// The name of the keyword's option on the command line: `--tx-depth`.
[[nodiscard]] std::string option_name(std::span<const options::Row> rows, std::string_view keyword);

}  // namespace loco::cli
