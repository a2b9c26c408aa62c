// Help made from the tree of commands and options: examples below --help, the man page, completions for shells.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace loco::cli {

/// Puts examples below the help of every command that has some.
void add_examples(CLI::App& app);

/// The manual page in roff (man 7): section 1.
[[nodiscard]] std::string man_page(const CLI::App& app);

/// The completion script of a shell: bash, zsh or fish.
[[nodiscard]] std::string completion(const CLI::App& app, const std::string& shell);

/// The version; further lines name the libraries it was built with.
[[nodiscard]] std::string version_text();

}  // namespace loco::cli
