// What an abstract path teaches: that it is a run of the program, or predicates that rule it out.
//
// All values on a path are known (initial values, assignments, choices, and which value each operation took out), so it
// is run; where a guard fails, the reason is looked for among the steps before. It is a cycle of differences
// `x - y <= c` that add up to less than 0: preferably one that compares variables with each other, not with constants
// (relations last, constants run away with every turn of a loop), then the shortest. Cut between two steps, the sums of
// its parts on the early side are an interpolant: those are the new predicates, one for each part and cut. A guard that
// is no difference is carried backward through the assignments instead (its weakest precondition).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "verify/abstract/search.hpp"
#include "verify/trace.hpp"

namespace loco::verify::abstract {

struct Refinement {
  enum class Kind : std::uint8_t {
    kRun,         ///< the schedule does it
    kPredicates,  ///< some were added
    kCount,       ///< the channel held more operations than were issued
    kStuck,       ///< no predicate of the kinds known here rules the path out
  };
  Kind kind = Kind::kStuck;
  Schedule schedule;
  std::uint32_t channel = 0;
  std::string why;
};

/// Adds to `predicates`.
[[nodiscard]] Refinement refine(Stepper& stepper, const AbstractPath& path, Predicates& predicates);

}  // namespace loco::verify::abstract
