// Checks a trace's indices before exporters, or Python's tables and pictures, follow them. A trace from a file was
// checked when it was read, but one made from arrays may contain anything; checkers report that as a broken structure.
#pragma once

#include <stdexcept>

#include "trace/trace.hpp"

namespace loco {

/// The trace cannot be shown as requested.
class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ExportError unless every referenced thread, object, node, set of nodes and call exists.
void require_places(const trace::Trace& trace);

}  // namespace loco
