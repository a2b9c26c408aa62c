// `--engine predicates`: predicate abstraction of the reduced program with best transformers on cubes; predicates are
// found by interpolation along paths that are none of the program (counterexample-guided refinement). It keeps what it
// has learnt from one task to the next of the same program and network, so that a search for flushes finds predicates
// once. It needs no solver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/abstract/linear.hpp"
#include "verify/engine.hpp"

namespace loco::verify {

[[nodiscard]] std::unique_ptr<Engine> predicate_engine();

/// A verdict, with the predicates that it took: those over memory, and those over elements as predicates over the variables
/// that the elements are values of.
struct Learned {
  Answer answer;
  std::vector<abstract::Linear> predicates;
};
[[nodiscard]] Learned learn(const Task& task);

/// An inductive invariant that proves the task (abstract/certificate.hpp), and nothing when this engine cannot prove it.
/// It is found by a search that takes every step everywhere, so it takes longer than a verdict.
[[nodiscard]] std::string certificate_of(const Task& task);

}  // namespace loco::verify
