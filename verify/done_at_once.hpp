// Programs for which the network makes no difference: each operation is waited for before anything else is done, and of
// what it touches only one word, the remote one, is anybody else's.
//
// Then an operation is as one step, at the moment at which it touches that word: what it reads and writes of its own
// process lies between its issue and the flush, while that process stands still, and nobody else looks. Whoever issues
// it may be thought of as standing before the statement until that moment, and behind it from then on, so every run is
// one of `sc`, whose proofs count (reduction: Lipton, "Reduction: A Method of Proving Properties of Parallel Programs",
// CACM 1975).
#pragma once

#include "verify/program.hpp"

namespace loco::verify {

/// Is every remote statement followed by a flush to its target that counts, with nothing in between, are its operands
/// and its result words that only its process touches, and does no `always` property look at the result or tell where
/// the process stands before and behind the statement apart? For safety: of runs that never end nothing is said.
[[nodiscard]] bool all_done_at_once(const Program& program, const FlushMask& flushes);

}  // namespace loco::verify
