// The engines of `loco-sim litmus` that run programs on the simulated hardware: `explore` and `sample`.
//
// LOCO's libraries are translated first (model::litmus::implement). Beside the outcomes, a result's notes say what a
// reader must know to judge them: that a limit stopped the search, which allowed outcomes the hardware cannot show
// because it completes operations in order, and runs that got stuck.
#pragma once

#include <map>
#include <string>

#include "model/litmus/command.hpp"

namespace loco::explore {

/// `explore` and `sample`, for run_litmus_command. Profiles are looked up by name (scenario::load_hardware): an unknown
/// one is a text::InputError.
[[nodiscard]] std::map<std::string, model::litmus::Engine> engines();

}  // namespace loco::explore
