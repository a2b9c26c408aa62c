// `--engine extrapolate`: the method of the paper step by step. Predicates from a proof without a network (or given),
// cube search with Z3, boolean program, reduction, extrapolated predicates and transformers, a three-valued model
// checker. When that finds a path that is none of the program, predicates that the reduction needs are added, and it
// starts again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

/// `predicates`: expressions over the variables of the program, as properties have them; none: found by itself.
[[nodiscard]] std::unique_ptr<Engine> extrapolate_engine(std::vector<Expression> predicates = {});

/// The result of one step of the method as text: `bp`, `reduced` or `ebp`. Throws std::invalid_argument for another
/// word.
[[nodiscard]] std::string dump(const Task& task, const std::string& what,
                               const std::vector<Expression>& predicates = {});

}  // namespace loco::verify
