// The boolean program B = BP(P, V) of the paper (section 4.1): for each step of the program without a network, how it
// changes each predicate, as two disjunctions of cubes over the predicates before: where the predicate holds
// afterwards, and where it does not; elsewhere it is unknown. Cubes are found with Z3, small ones first.
//
// A remote statement is one step under sc; here it is the parts of which it is made, `remote := operand` of a put and
// so on, each with the variable in place of the element that is read from it: what extrapolation starts from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/abstract/reduced.hpp"
#include "verify/engine.hpp"

namespace loco::verify::abstract {

/// A conjunction of literals: number of a predicate + 1, negative when it does not hold.
using Cube = std::vector<std::int32_t>;
using Cubes = std::vector<Cube>;

struct BooleanAssignment {
  std::uint32_t predicate = 0;
  Cubes holds;
  Cubes fails;
};

/// A step cannot be taken where one of `blocked` is true.
struct BooleanStep {
  Cubes blocked;
  std::vector<BooleanAssignment> assignments;  ///< by number of predicate; the others keep their value
};

struct BooleanProgram {
  std::vector<Linear> predicates;
  std::vector<BooleanStep> cpu;   ///< [Reduced::cpu]
  std::vector<BooleanStep> nic;   ///< [Reduced::nic]; nothing is known of one whose parts name a variable twice
  std::vector<Cubes> impossible;  ///< [Reduced::violations]: where the violation is not there
  std::uint64_t solver_calls = 0;
};

/// F(formula): the smallest cubes over the predicates that imply that the atoms do not all hold together.
/// Public for tests; `boolean_program` calls it for every step.
[[nodiscard]] Cubes cubes_against(const std::vector<Linear>& atoms, const std::vector<Linear>& predicates);

/// Throws LimitReached.
[[nodiscard]] BooleanProgram boolean_program(const Reduced& reduced, const std::vector<Linear>& predicates,
                                             const Limits& limits);

/// The variable whose values an operand collects: its source, or, of results, the remote variable.
[[nodiscard]] Variable collected(const Reduced& reduced, std::uint32_t channel, std::uint32_t operand);

[[nodiscard]] std::string to_text(const Reduced& reduced, const BooleanProgram& program);

}  // namespace loco::verify::abstract
