// A counterexample as a graph for Graphviz: CPUs and NICs as columns, time from top to bottom, an arrow from each
// remote statement to what NICs do for it.
#pragma once

#include <string>

#include "verify/report.hpp"

namespace loco::verify {

/// Empty when the report has no counterexample.
[[nodiscard]] std::string to_dot(const Report& report);

}  // namespace loco::verify
