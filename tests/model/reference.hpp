// A checker written straight from the definitions, to compare the fast one with: every relation as a set of pairs,
// transitive closures by Warshall, no sparse edges, no recorded order (nfo's orientation excepted). Small
// executions only.
#pragma once

#include <vector>

#include "model/check.hpp"
#include "model/trace.hpp"

namespace loco::model::test {

/// Is the execution at the level of the libraries (a bit each) consistent? The witness must be well-formed otherwise:
/// of what can be wrong with it, only causes that come after their effects are looked at, and waits for what had not
/// been done. What had been posted and had not begun comes after everything that had, in an order that is left open.
[[nodiscard]] bool reference_consistent(const Trace& trace, unsigned libraries);

/// The trace continued to its end: subevents that had begun finish in the order in which they began, then all others
/// take place in the order of their ids in `order`.
[[nodiscard]] Trace gone_on(Trace trace, const std::vector<SubeventId>& order);

/// Does the trace fit the reference checker?
[[nodiscard]] bool fits_reference(const Trace& trace);

}  // namespace loco::model::test
