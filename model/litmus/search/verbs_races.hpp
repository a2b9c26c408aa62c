// Races of verbs programs (docs/verbs-model.md, "Races"): accesses that only the accidents of a run order.
#pragma once

#include <string>
#include <vector>

#include "model/litmus/search/search.hpp"

namespace loco::model::litmus {

/// Those of one execution, like `unordered (x)`, sorted, each once.
[[nodiscard]] std::vector<std::string> races_of(const FoundExecution& execution);

/// Those of all consistent executions with the outcome Program::assumed. `cut`, if given: a limit of the options ended
/// the search.
[[nodiscard]] std::vector<std::string> all_races(const Program& program, const Model& model,
                                                 const SearchOptions& options, bool* cut = nullptr);

}  // namespace loco::model::litmus
