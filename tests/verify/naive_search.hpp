// All states of a small program, one after the other, by the exact semantics alone: the reference for engines.
#pragma once

#include <cstddef>

#include "verify/network.hpp"
#include "verify/program.hpp"

namespace loco::test {

struct Naive {
  bool complete = true;  ///< nothing was left out
  bool broken = false;
  std::size_t steps = 0;  ///< of a shortest schedule that breaks something
};

/// `pending_max`: states with more pending operations are left out.
[[nodiscard]] Naive naive_search(const verify::Program& program, const verify::FlushMask& flushes,
                                 verify::Network network, std::size_t states_max, std::size_t pending_max);

}  // namespace loco::test
