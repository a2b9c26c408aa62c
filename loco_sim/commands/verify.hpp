// The arguments of `loco-sim verify` and of Python's verify().
#pragma once

#include <string>
#include <vector>

#include "loco_sim/commands/rows.hpp"
#include "verify/command.hpp"

namespace loco::commands {

struct Verify {
  verify::CommandOptions options{};
  std::vector<std::string> replay_on;  ///< hardware: profiles' names or files; of Python YAML
  // of the command line alone
  std::vector<std::string> files;
  std::string replay;             ///< file, or empty
  std::string dot;                ///< file, or empty
  std::string out;                ///< HTML file to write, or empty
  std::string predicates;         ///< file, or empty
  std::string certificate;        ///< file to write, or empty
  std::string check_certificate;  ///< file, or empty
  std::string dump;               ///< bp, reduced, ebp, or empty
  bool json = false;
  bool times = false;  ///< in JSON: how long it took
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Verify>();

}  // namespace loco::commands
