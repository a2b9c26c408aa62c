// Finds which outcomes a hardware profile rules out, and by which of its mechanisms.
//
// The program is explored on a reference profile (model-weak, which shows whatever the models allow, apart from
// in-order completion). While outcomes are unexplained, it is also explored on the reference with one mechanism of the
// profile at a time. A mechanism is a field of the profile, or a group of fields that belong together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loco_sim/explore/explore.hpp"

namespace loco::explore {

struct Mechanism {
  std::string name;              ///< the key of its field, or a description of the group
  nic::HardwareProfile profile;  ///< the reference with this mechanism
};

/// The mechanisms of `real` that `reference` does not have.
[[nodiscard]] std::vector<Mechanism> mechanisms(const nic::HardwareProfile& reference,
                                                const nic::HardwareProfile& real);

struct RuledOut {
  model::litmus::Outcome outcome;
  std::vector<std::string> by;  ///< mechanisms each of which alone rules it out; empty: only several together do
};

struct RuledOutResult {
  std::vector<model::litmus::Outcome> possible;  ///< on the reference
  std::vector<RuledOut> ruled_out;               ///< outcomes among these
  bool complete = true;  ///< false: a limit stopped the search on the reference, so nothing is known
};

/// Converts a program to what hardware with a profile runs: over words (model::litmus::implement) and verbs
/// (over_verbs).
using ProgramOn = std::function<model::litmus::Program(const nic::HardwareProfile&)>;

/// `shown`: all outcomes of the program on the real profile.
[[nodiscard]] RuledOutResult ruled_out(const ProgramOn& program, const std::vector<model::litmus::Outcome>& shown,
                                       const nic::HardwareProfile& reference, const std::vector<Mechanism>& mechanisms,
                                       const ExploreLimits& limits);

}  // namespace loco::explore
