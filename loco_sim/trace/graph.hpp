// A trace as an execution graph for Graphviz: a column for each thread with its accesses to memory in program order,
// and the relations that the trace witnesses as arrows: rf (a read from its write), mo (a write after the one that it
// overwrote). Accesses by NICs are dashed boxes behind the call that asked for them.
//
// For short traces: graphs beyond a few hundred accesses are not for people.
#pragma once

#include <cstddef>
#include <iosfwd>

#include "trace/trace.hpp"

namespace loco {

/// Draws the first `limit` subevents; returns how many there were in all. Throws ExportError as require_places does.
std::size_t write_graph(std::ostream& out, const trace::Trace& trace, std::size_t limit);

}  // namespace loco
