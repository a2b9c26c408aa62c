// An abstract path, run on numbers: every variable gets a new version (a node) when it is written, and steps become
// constraints between versions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "verify/abstract/search.hpp"
#include "verify/trace.hpp"

namespace loco::verify::abstract {

/// A version of a variable. Node 0 is the constant zero.
struct PathNode {
  Number value = 0;
  std::uint32_t since = 0;     ///< the step that made it; 0: the initial state
  std::uint32_t until = ~0U;   ///< the step that replaced it
  Variable variable = kZero;   ///< of memory; of an operand: its element, from when it was captured
  std::optional<Linear> made;  ///< over nodes
};

/// `left - right <= bound`, since a step.
struct PathEdge {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  Number bound = 0;
  std::uint32_t since = 0;
};

struct PathRun {
  std::vector<PathNode> nodes;
  std::vector<PathEdge> edges;
  /// The guard (over nodes) that does not hold, and at which step, counted from 1.
  std::optional<Linear> failed;
  std::uint32_t failed_at = 0;
  /// An operation was taken out that was not there: the channel.
  std::optional<std::uint32_t> not_there;
  /// Otherwise the path is a run.
  Schedule schedule;
};

[[nodiscard]] PathRun run(Stepper& stepper, const AbstractPath& path);

}  // namespace loco::verify::abstract
