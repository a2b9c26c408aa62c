// The arguments of `loco-sim generate` and of Python's generate().
#pragma once

#include <string>

#include "loco_sim/commands/rows.hpp"
#include "model/corerma/generate.hpp"

namespace loco::commands {

struct Generate {
  model::corerma::GenerateOptions options{};  ///< without the members that the texts below stand for
  std::string pivot;
  std::string rules = "corerma";  ///< a rule set by name, or a list of rules
  std::string statements;         ///< empty: all
  std::uint64_t sample = 0;       ///< at most so many tests, evenly spread; 0: all
  bool anyway = false;            ///< even if it is out of reach
  // of the command line alone
  std::string out;  ///< file, or empty for stdout
  bool count = false;
  bool json = false;
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Generate>();

/// The options, with the texts parsed. Throws std::invalid_argument, `--option: expected ..., found ...`.
[[nodiscard]] model::corerma::GenerateOptions options_of(const Generate& arguments);

}  // namespace loco::commands
