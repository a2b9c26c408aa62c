// A checker written straight from the definitions, to compare the fast one with: every relation as a set of pairs,
// transitive closures by Warshall, no sparse edges, no recorded order (nfo's orientation excepted). Small
// executions only.
#pragma once

#include "model/check.hpp"
#include "model/trace.hpp"

namespace loco::model::test {

/// Is the execution at the level of the libraries (a bit each) consistent? The witness must be well-formed.
[[nodiscard]] bool reference_consistent(const Trace& trace, unsigned libraries);

/// Does the trace fit the reference checker?
[[nodiscard]] bool fits_reference(const Trace& trace);

}  // namespace loco::model::test
