// The engines of `loco-sim litmus` that run programs on simulated hardware: `explore` and `sample`.
//
// LOCO's libraries are translated first (model::litmus::implement). Besides the outcomes, a result has notes that a
// reader needs to judge them: whether a limit stopped the search, which allowed outcomes the hardware cannot show
// because it completes operations in order, and runs that got stuck.
#pragma once

#include <map>
#include <string>

#include "model/litmus/answers/command.hpp"

namespace loco::explore {

/// `explore` and `sample`, for run_litmus_command. Profiles are found by name (scenario::load_hardware); an unknown one
/// causes a text::InputError.
[[nodiscard]] std::map<std::string, model::litmus::Engine> engines();

}  // namespace loco::explore
