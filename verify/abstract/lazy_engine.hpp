// `--engine lazy`: predicate abstraction of the reduced program with best transformers, predicates found by interpolation
// (counterexample-guided refinement). It keeps what it has learnt from one task to the next of the same program and
// network, so that a search for flushes pays for predicates once.
#pragma once

#include <memory>

#include "verify/engine.hpp"

namespace loco::verify {

[[nodiscard]] std::unique_ptr<Engine> make_lazy_engine();

}  // namespace loco::verify
