// Which outcomes a hardware profile rules out, and by which of its mechanisms.
//
// The program is explored on a reference profile (model-weak: the machine that shows whatever the models allow, but for
// in-order completion) and, while outcomes are unexplained, on the reference with one mechanism of the profile at a
// time. A mechanism is a field of the profile, or a group of fields that mean something together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loco_sim/explore/explore.hpp"

namespace loco::explore {

struct Mechanism {
  std::string name;              ///< the key of its field, or what a group of fields is
  nic::HardwareProfile profile;  ///< the reference with this mechanism
};

/// The mechanisms that `real` has and `reference` has not.
[[nodiscard]] std::vector<Mechanism> mechanisms(const nic::HardwareProfile& reference,
                                                const nic::HardwareProfile& real);

struct RuledOut {
  model::litmus::Outcome outcome;
  std::vector<std::string> by;  ///< mechanisms of which each alone rules it out; none: several together
};

struct RuledOutResult {
  std::vector<model::litmus::Outcome> possible;  ///< on the reference
  std::vector<RuledOut> ruled_out;               ///< of these
  bool complete = true;  ///< false: a limit cut the search on the reference short, nothing is known
};

/// A program as hardware of a profile runs it: over words (model::litmus::implement) and verbs (over_verbs).
using ProgramOn = std::function<model::litmus::Program(const nic::HardwareProfile&)>;

/// `shown` are the program's outcomes on the real profile, all of them.
[[nodiscard]] RuledOutResult ruled_out(const ProgramOn& program, const std::vector<model::litmus::Outcome>& shown,
                                       const nic::HardwareProfile& reference, const std::vector<Mechanism>& mechanisms,
                                       const ExploreLimits& limits);

}  // namespace loco::explore
