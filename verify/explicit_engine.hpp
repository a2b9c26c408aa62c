// `--engine explicit`: every schedule of a program, on concrete values (set_system.hpp says how any number of pending
// operations is covered). Decides programs with finite data; refutes others when what breaks comes early.
#pragma once

#include <cstdint>
#include <memory>

#include "verify/engine.hpp"

namespace loco::verify {

/// `points_max`: gives up after so many points of one search; 0: when time or memory are out.
[[nodiscard]] std::unique_ptr<Engine> explicit_engine(std::uint64_t points_max = 0,
                                                      std::uint64_t points_first = 20'000);

}  // namespace loco::verify
