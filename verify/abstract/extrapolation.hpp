// Extrapolation (sections 4.2 and 4.3 of the paper): from the boolean program of a program without a network to one of
// its reduction, without a solver.
//
// Predicates: V, and for each operand (set) and each predicate with the variable that it collects, that predicate over
// all elements, which is true, false or unknown; and the count of each channel (the paper's flag). Transformers: a
// value that enters a set has what is known of its variable then, and the set keeps what it had in common with that;
// taking one out does what the part of the statement did without a network, with the set's predicates in place of the
// variable's. A set's predicate that also mentions what a NIC writes becomes unknown. So does, and here the paper's
// rule as printed would be unsound, a predicate that mentions what is written together with the variable that the
// element is a value of: after `Y = X` it holds that Y = X, after `Y = random element of XSet` it need not. That reads
// `remote` of rga and cas in the same way: their results are a set of values of `remote`, taken before it changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/abstract/boolean_program.hpp"
#include "verify/abstract/search.hpp"

namespace loco::verify::abstract {

/// V with the predicates over sets.
[[nodiscard]] Predicates extrapolated(const Reduced& reduced, const std::vector<Linear>& predicates);

/// The steps of the extrapolated boolean program on three-valued states: every set is one cube. `abstraction` is over
/// `extrapolated(...)`; all that is given outlives it.
[[nodiscard]] std::unique_ptr<Stepper> extrapolated_stepper(Abstraction& abstraction, const BooleanProgram& program,
                                                            const FlushMask& flushes, const Caps& caps,
                                                            const Limits& limits);

/// The reduction, for people: what each statement becomes.
[[nodiscard]] std::string reduction_text(const Reduced& reduced);
[[nodiscard]] std::string extrapolation_text(const Reduced& reduced, const BooleanProgram& program);

}  // namespace loco::verify::abstract
