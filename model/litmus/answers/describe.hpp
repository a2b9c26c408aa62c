// A test in words: the steps of each thread, and the orders that decide an outcome.
#pragma once

#include <string>
#include <vector>

#include "model/litmus/answers/litmus.hpp"

namespace loco::model::litmus {

/// The first sentence of describe(): the statements of each thread.
[[nodiscard]] std::string describe_threads(const Program& program);
/// Why an outcome is never seen, of the cycles that its executions run into; at least one.
[[nodiscard]] std::string describe_forbidden(const Program& program, const PartialOutcome& outcome,
                                             const std::vector<Explanation>& cycles, const Options& options = {});
/// That it may be seen.
[[nodiscard]] std::string describe_allowed(const Program& program, const PartialOutcome& outcome,
                                           const Options& options = {});

}  // namespace loco::model::litmus
