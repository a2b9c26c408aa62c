// The search within one skeleton. See search.hpp for the method.
#pragma once

#include <cstdint>
#include <vector>

#include "model/litmus/axioms.hpp"
#include "model/litmus/execution_sink.hpp"
#include "model/litmus/symmetry.hpp"

namespace loco::model::litmus {

/// The symmetries of a skeleton, within a group of symmetries of the program.
struct SkeletonSymmetry {
  std::vector<const Automorphism*> stabiliser;  ///< those that map its paths to themselves, all but the identity
  std::uint64_t order = 1;                      ///< of the whole group
};

/// False if the whole search must stop.
bool search_skeleton(const Skeleton& x, const Axioms& a, const SkeletonSymmetry& symmetry, ExecutionSink& sink);

}  // namespace loco::model::litmus
