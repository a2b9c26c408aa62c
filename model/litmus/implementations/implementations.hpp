// LOCO's libraries written in terms of rdmawait, as a translation of litmus programs.
//
// LOCO paper: I_SV (Section 3.5), I_BAL (Fig. 11), I_RBL (Fig. 14), I_MSW (Fig. 25 and App. D). The translated program
// uses word locations and rdmawait methods only, so that every engine can run it: the hardware explorer has no other
// way to run a barrier, and bounded soundness compares its outcomes with those of the specification.
// Loops that wait for a value become backward jumps. Observables keep their names and positions.
#pragma once

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

/// How a mixed-size variable tells a torn value from a whole one.
enum class MixedSize : std::uint8_t {
  hash,            ///< a hash cell in front of the data (Fig. 25)
  guards,          ///< a guard on either side; the reader goes from the trailing to the leading one
  guards_forward,  ///< the second bug of App. D: the reader goes the other way
};

struct Implementation {
  bool barrier_without_fence = false;  ///< the first bug of App. D: notify without a global fence
  bool barrier_fences_others = false;  ///< a barrier that does not fence the thread's own node
  bool fence_without_wait = false;     ///< a global fence that does not wait for what it has read
  MixedSize mixed_size = MixedSize::hash;
  int ring_cells = 8;  ///< S of Fig. 14; a message takes two cells (its length and its value)
};

/// The program with all calls of sv, bal, rbl and msw replaced by their implementations.
/// A program that has none comes back unchanged.
[[nodiscard]] Program implement(const Program& program, const Implementation& how = {});

/// A straight-line program over rdmawait as one over rdmatso: waits are polls (Fig. 24). `polls`: false is a mistake to
/// find, a wait then does nothing.
[[nodiscard]] Program waits_by_polls(const Program& program, bool polls = true);

/// The tuple that the cells of a mixed-size variable (hash, elements) hold in an implemented program; kBottom when
/// they are torn, so that no read of them would succeed.
[[nodiscard]] Value whole_tuple(const Program& implemented, const std::vector<Value>& cells);

}  // namespace loco::model::litmus
