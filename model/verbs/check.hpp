// Is a run of a verbs program one that the memory model of verbs allows? Consistency with matching and completion
// orders, on the witness that the trace recorded. A run of the simulator is, unless its NIC is wrong (a deliberate
// fault).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace loco::model::verbs {

struct CycleStep {
  std::uint32_t call = 0;
  std::uint32_t thread = 0;
  std::string thread_name;
  std::string stamp;  ///< "aNRW", "aRX", ...
  std::string text;
  std::string rule;  ///< of the edge to the next step
  std::string place;
};

struct Violation {
  std::string
      rule;  ///< "matching", "receive order", "completion order", "poll takes next", "posted once", or an edge's
  std::string message;
  std::vector<CycleStep> cycle;  ///< empty for a predicate
};

struct Verdict {
  std::vector<Violation> violations;
  std::uint64_t calls = 0;
  std::uint64_t subevents = 0;
  [[nodiscard]] bool consistent() const { return violations.empty(); }
  [[nodiscard]] std::string to_text() const;
};

/// Throws std::invalid_argument for a trace that is none of a verbs program.
[[nodiscard]] Verdict check(const trace::Trace& trace);

}  // namespace loco::model::verbs
