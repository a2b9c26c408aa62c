// The expectations of a litmus document: locations whose final values belong to an outcome, and outcomes allowed and
// forbidden.
#pragma once

#include "model/litmus/language/program.hpp"
#include "yaml/node.hpp"

namespace loco::model::litmus {

/// The document's `final`, if it has any: further observables of the program, which has its threads' registers.
void read_final(Program& program, const yaml::Node& document);
/// Its `outcomes` and `outcomes_by_model`. The program has all its observables.
void read_outcomes(Program& program, const yaml::Node& document);

}  // namespace loco::model::litmus
