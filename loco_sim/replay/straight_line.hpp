// A counterexample of `loco-sim verify` as a program that hardware can run: the path of each process is straight-line
// code, and what is broken becomes a condition on what it ends with.
//
// A process stops where it stands when the counterexample ends, so that "all have stopped" is the moment at which the
// property is broken; its NIC may then still have operations pending. Conditions on the path are collected in a
// register: a run whose tests come out otherwise is another path. A process ends with a fence: what it has stored is
// then in memory, as the exact semantics has it.
#pragma once

#include <optional>
#include <vector>

#include "model/litmus/program.hpp"
#include "verify/program.hpp"
#include "verify/schedule.hpp"

namespace loco::replay {

struct StraightLine {
  /// coreRMA statements (explore::over_verbs makes verbs of them). Observables: for each thread whether it has followed
  /// its path (1), for each of them whether an assertion at its end has failed (1), then the program's locals, then,
  /// where the property speaks of them, its shared variables.
  model::litmus::Program program;
  std::optional<verify::Expression> property;  ///< that does not hold at the end; none: it is an assertion
  std::vector<std::uint32_t> stands;           ///< location at which each process stops
  bool looks_at_memory = false;                ///< the property speaks of shared variables
};

/// What the schedule breaks, as code. Throws std::invalid_argument, in words, when it breaks nothing, or when its
/// numbers do not fit the words of a machine.
[[nodiscard]] StraightLine straight_line(const verify::Semantics& semantics, const verify::Schedule& schedule);

/// Does a run that ended like this follow the paths, and is the property broken then?
[[nodiscard]] bool breaks(const StraightLine& line, const model::litmus::Outcome& outcome);

}  // namespace loco::replay
