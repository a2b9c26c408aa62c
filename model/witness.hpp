// Is the recorded witness one at all? Structure first (indices, nesting: everything else relies on it), then causes
// (causality.cpp): a trace that fails there is no execution. Then the well-formedness conditions on rf, mo and the
// values (LOCO paper, Appendix G.2), each under its own rule.
#pragma once

#include "model/library_checker.hpp"
#include "model/trace_index.hpp"

namespace loco::model {

void check_structure(const Trace& trace, const Poll& poll, Reports& reports);

/// Requires sound structure. Reports Rule::structure, too.
void check_causality(const TraceIndex& index, Reports& reports);

/// Requires sound structure.
void check_witness(const TraceIndex& index, Reports& reports);

/// Words of atomics are written by atomics only: reports (Rule::mixed_access) each atomic between whose halves another
/// write reached memory, and was lost.
void check_mixed_access(const TraceIndex& index, Reports& reports);

}  // namespace loco::model
