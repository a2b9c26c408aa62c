// A trace as an execution graph for Graphviz. Each thread is a column with its accesses to memory in program order.
// Arrows are the relations that the trace witnesses: rf (from a write to a read of it) and mo (from a write to the one
// that overwrote it). Accesses by NICs are dashed boxes after the call that requested them.
//
// For short traces: a graph of more than a few hundred accesses is not readable.
#pragma once

#include <cstddef>
#include <iosfwd>

#include "trace/trace.hpp"

namespace loco {

/// Draws the first `limit` subevents. Returns the number of all subevents. Throws ExportError as require_places() does.
std::size_t write_graph(std::ostream& out, const trace::Trace& trace, std::size_t limit);

}  // namespace loco
