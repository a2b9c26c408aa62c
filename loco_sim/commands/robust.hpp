// The arguments of `loco-sim robust` and of Python's robust().
#pragma once

#include <string>
#include <vector>

#include "loco_sim/commands/rows.hpp"
#include "model/litmus/answers/robust.hpp"
#include "verify/network.hpp"

namespace loco::commands {

struct Robust {
  model::litmus::RobustOptions options{};
  verify::Network network = verify::Network::kUnordered;  ///< of RMA programs
  double max_seconds = 0;
  // of the command line alone
  std::vector<std::string> files;
  std::vector<std::string> tests;  ///< by name; empty: all
  bool json = false;
  bool times = false;  ///< in JSON: how long it took
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Robust>();

}  // namespace loco::commands
