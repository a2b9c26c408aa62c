// What the exporters, and Python's tables and pictures, ask of a trace before they follow its indices. A file's were
// checked as it was read; a trace made from arrays may say anything, which the checkers call a broken structure.
#pragma once

#include <stdexcept>

#include "trace/trace.hpp"

namespace loco {

/// The trace cannot be shown as asked.
class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ExportError unless every thread, object, node, set of nodes and call that is referred to is there.
void require_places(const trace::Trace& trace);

}  // namespace loco
