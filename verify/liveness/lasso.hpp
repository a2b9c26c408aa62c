// Lassos of the exact semantics: from what a Graph found, and whether one is right.
#pragma once

#include <optional>
#include <string>

#include "verify/liveness/components.hpp"

namespace loco::verify::liveness {

/// The schedule of what was found, each read that the graph did at once as a step of its own. Where locals that nobody
/// reads had not come back to what they were after one round, the loop begins some rounds later. Nothing when that does
/// not help, which no graph whose steps are all real gives.
[[nodiscard]] std::optional<Lasso> lasso_of(Graph& graph, const Finding& finding);

/// Why a lasso is no counterexample: a step that cannot be taken, a loop that does not come back, unfair, or what the
/// property asks for comes. Nothing when it is one. By the exact semantics only.
[[nodiscard]] std::optional<std::string> fault_of(const Semantics& semantics, const LivenessProperty& property,
                                                  Fairness fairness, const Lasso& lasso);

/// What happens in each round, in words: who steps, who has ended or stands still, what is pending.
[[nodiscard]] std::string round_in_words(const Semantics& semantics, const Lasso& lasso);

}  // namespace loco::verify::liveness
