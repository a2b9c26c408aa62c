// A counterexample of `loco-sim verify` as a program that hardware can run: the path of each process becomes
// straight-line code, and what is broken becomes a condition on the final state.
//
// A process stops where it is when the counterexample ends, so the property is broken at the moment when all have
// stopped; the NICs may still have operations pending. Conditions on the path are collected in a register, because a
// run in which they have other values takes another path. A process ends with a fence, so that its stores are in
// memory, as in the exact semantics.
#pragma once

#include <optional>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "verify/program.hpp"
#include "verify/schedule.hpp"

namespace loco::replay {

struct StraightLine {
  /// coreRMA statements (explore::over_verbs turns them into verbs). Observables: for each thread whether it has
  /// followed its path (1), for each thread whether an assertion at its end has failed (1), then the program's locals,
  /// and its shared variables if the property uses them.
  model::litmus::Program program;
  std::optional<verify::Expression> property;  ///< the property broken at the end; none: it is an assertion
  std::vector<std::uint32_t> stands;           ///< location where each process stops
  bool looks_at_memory = false;                ///< the property uses shared variables
};

/// What the schedule breaks, as code. Throws std::invalid_argument, with a reason, if it breaks nothing or if its
/// numbers do not fit the words of a machine.
[[nodiscard]] StraightLine straight_line(const verify::Semantics& semantics, const verify::Schedule& schedule);

/// True if a run with this outcome follows the paths and breaks the property.
[[nodiscard]] bool breaks(const StraightLine& line, const model::litmus::Outcome& outcome);

}  // namespace loco::replay
