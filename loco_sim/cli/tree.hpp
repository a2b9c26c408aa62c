// The tree of commands as plain data: the source of the man page and the completions.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace loco::cli {

struct OptionInfo {
  std::vector<std::string> names;  ///< with their dashes, the long one first; empty: positional
  std::string name;                ///< of a positional
  std::string description;
  std::string value;                 ///< the name of its value; empty: a flag
  std::vector<std::string> choices;  ///< all values that it may have; empty: anything
  std::vector<std::string> known;    ///< some of the values that it may have, beside files; with a "=" at the end: keys
};

struct CommandInfo {
  std::string path;  ///< `trace export`; empty: the program itself
  std::string name;  ///< `export`
  std::string description;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

[[nodiscard]] CommandInfo describe(const CLI::App& app);

}  // namespace loco::cli
