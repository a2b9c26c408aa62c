// The arguments of `loco-sim litmus` and of Python's litmus().
#pragma once

#include <string>
#include <vector>

#include "loco_sim/commands/rows.hpp"
#include "model/litmus/answers/command.hpp"

namespace loco::commands {

struct Litmus {
  model::litmus::CommandOptions options{};  ///< without the variants below
  std::string flip;                         ///< cells of the stamp order; empty: none
  std::vector<std::string> variants;
  // of the command line alone
  std::string rules;    ///< a list of coreRMA's, in place of a model
  std::string cells;    ///< file of a stamp table or rule set; empty: none
  std::string to_herd;  ///< folder for files of herd's; empty: the tests are run
  std::string dot;
  bool quiet = false;  ///< failures and the last line only
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Litmus>();

}  // namespace loco::commands
