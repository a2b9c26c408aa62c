// Breadth-first search of a SetSystem under partial-order reduction, for a point where something is broken.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verify/engine.hpp"
#include "verify/point_store.hpp"
#include "verify/set_system.hpp"

namespace loco::verify {

struct SearchOptions {
  Limits limits;
  std::uint64_t points_max = 0;  ///< 0: as many as memory allows
  /// Steps that no other agent can tell from any other order are taken at once, without points between them: fewer
  /// points, but perhaps not the shortest way.
  bool hurry = true;
  /// Nothing is merged: a statement of which so many operations are pending waits. Finds no proof, but real ways only.
  bool only_exact = false;
};

struct SearchResult {
  enum class End : std::uint8_t { kBroken, kNothing, kTime, kMemory, kPoints };
  End end = End::kNothing;
  std::vector<Move> way;   ///< of kBroken; from the first point
  bool merged = false;     ///< some point stood for more than the operations that were told apart
  bool held_back = false;  ///< only_exact: some statement had to wait
  std::uint64_t points = 0;
  std::uint32_t distance = 0;  ///< of kBroken: steps of the exact semantics
};

[[nodiscard]] SearchResult search(SetSystem& system, const SearchOptions& options);

}  // namespace loco::verify
