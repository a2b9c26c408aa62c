// Wrong arguments: checks of options' values, and the line on stderr that names the wrong one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/language/rule_set.hpp"

namespace loco::cli {

/// The arguments, the last one first, as CLI11 takes them. `help` is --help, and `help COMMAND` is COMMAND --help.
[[nodiscard]] std::vector<std::string> words_backwards(int argc, const char* const* argv);

/// Accepts these words; completions and the manual list them.
[[nodiscard]] CLI::Validator one_of_words(const std::vector<std::string>& words);

/// Refuses empty values of all options of the command and of those below it: a shell passes one for an unset variable.
/// Options named in `but` check their value themselves.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& but);

/// Refuses `--json=1GiB` and `--quiet=no` in the command and those below it: a flag is there or not. (`=true` is
/// taken.)
void refuse_values_of_flags(CLI::App& command);

/// The hardware that an argument names; `argument` is what a mistake in the name is told of: `loco-sim litmus:
/// --hardware`. `set` overrides fields, called pcie.generation=4 or hardware.pcie.generation=4.
[[nodiscard]] scenario::Hardware named_hardware(const std::string& argument, const std::string& name,
                                                const std::vector<std::string>& set = {});

/// The coreRMA rules of an option `--rules`; a mistake is a UsageError of `command` (`loco-sim litmus`).
[[nodiscard]] model::litmus::RuleSet named_rules(const std::string& command, const std::string& list);

/// The message `loco-sim run: expected ..., found ...` for an exception of the parser.
[[nodiscard]] std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

/// A message about a file that was given to the command; names the file's kind where the command takes another.
[[nodiscard]] std::string with_kind_of_file(const CLI::App& app, const std::string& message);

}  // namespace loco::cli
