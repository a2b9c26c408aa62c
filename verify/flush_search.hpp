// How few flushes does a program need? Learns from counterexamples: each names flushes any one of which would have
// stopped it, so that a placement that works has one of these. Checking a smallest set that has one of each, and
// learning from it when it does not work, ends at a smallest placement; going on with the same size gives all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/engine.hpp"
#include "verify/hitting_sets.hpp"

namespace loco::verify {

struct FlushSearch {
  Answer all;                        ///< with all flushes; there is nothing to search unless that is safe
  bool found = false;                ///< placements holds the smallest ones that make the program safe
  std::vector<Elements> placements;  ///< all smallest ones, each as indices of Program::flushes
  std::vector<Elements> undecided;   ///< placements as small, or smaller, of which the engine does not know
  std::size_t at_least = 0;          ///< no placement with fewer works, as far as is known
  std::optional<Elements> at_most;   ///< one that works, when the search for the smallest ones took too long
  std::string why;                   ///< one line
  std::uint64_t checks = 0;
};

/// `task.flushes`: the ones to choose from; others never count. `done` hears of each check.
[[nodiscard]] FlushSearch search_flushes(Engine& engine, const Task& task,
                                         const std::function<void(const Elements&, const Answer&)>& done = {});

}  // namespace loco::verify
