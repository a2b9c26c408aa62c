// Arguments that are wrong: what options accept, and the one line that says which was not.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/rule_set.hpp"

namespace loco::cli {

/// Accepts whole numbers in decimal, and refuses what the standard conversions would wrap or cut.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Accepts decimal numbers from 0 on.
[[nodiscard]] CLI::Validator seconds();

/// The arguments, the last one first, as CLI11 takes them. `help` is --help, and `help COMMAND` is COMMAND --help.
[[nodiscard]] std::vector<std::string> words_backwards(int argc, const char* const* argv);

/// Accepts these words; completions and the manual list them.
[[nodiscard]] CLI::Validator one_of_words(const std::vector<std::string>& words);

/// Refuses empty text wherever the command, and those below it, take a value: it is what a shell makes of a variable
/// that is not set. Options named in `but` look at it themselves.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& but);

/// Refuses `--json=1GiB` and `--quiet=no` in the command and those below it: a flag is there or not. (`=true` is
/// taken.)
void refuse_values_of_flags(CLI::App& command);

/// An option whose value is a whole number from `least` to `most`, or to what `value` can hold.
template <typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& names, Number& value, const std::string& description,
                        std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<Number>::max()) {
  return command.add_option(names, value, description)->check(whole_number(least, most));
}

/// The hardware that an argument names; `argument` is what a mistake in the name is told of: `loco-sim litmus:
/// --hardware`.
[[nodiscard]] scenario::Hardware named_hardware(const std::string& argument, const std::string& name);

/// The coreRMA rules of an option `--rules`; a mistake is a UsageError of `command` (`loco-sim litmus`).
[[nodiscard]] model::litmus::RuleSet named_rules(const std::string& command, const std::string& list);

/// `loco-sim run: expected ..., found ...` for what parsing the arguments threw.
[[nodiscard]] std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

/// A message about a file that was given to the command, with what the file is when that is another kind than it takes.
[[nodiscard]] std::string with_kind_of_file(const CLI::App& app, const std::string& message);

}  // namespace loco::cli
