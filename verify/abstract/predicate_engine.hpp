// `--engine predicates`: predicate abstraction of the reduced program with best transformers on cubes; predicates are
// found by interpolation along paths that are none of the program (counterexample-guided refinement). It keeps what it
// has learnt from one task to the next of the same program and network, so that a search for flushes finds predicates
// once. It needs no solver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/abstract/linear.hpp"
#include "verify/abstract/reduced.hpp"
#include "verify/engine.hpp"

namespace loco::verify {

/// `predicates`: what it begins with, expressions over the variables of the program, as properties have them.
[[nodiscard]] std::unique_ptr<Engine> predicate_engine(std::vector<Expression> predicates = {});

/// The atoms of expressions, each once.
[[nodiscard]] std::vector<abstract::Linear> atoms_of(const abstract::Reduced& reduced,
                                                     const std::vector<Expression>& expressions);

/// A verdict, with the predicates that it took: those over memory, and those over elements as predicates over the
/// variables that the elements are values of.
struct Learned {
  Answer answer;
  std::vector<abstract::Linear> predicates;
};
[[nodiscard]] Learned learn(const Task& task, std::vector<Expression> predicates = {});

/// An answer with an inductive invariant that proves the task (abstract/certificate.hpp), if it is safe;
/// `certificate_of` is that by itself, and nothing when this engine cannot prove it. It is found by a search that takes
/// every step everywhere, so it takes longer than a verdict.
[[nodiscard]] Answer certified(const Task& task, std::vector<Expression> predicates = {});
[[nodiscard]] std::string certificate_of(const Task& task);

}  // namespace loco::verify
