// `--engine auto`: engines one after the other, in rounds. The explicit one first, for as many points as take it a
// tenth of a second or so: it decides nearly all programs with finite data at once. Then the others, which know
// infinite data, for a few seconds; then both once more, with much more to spend, and the explicit one with all that is
// left.
#pragma once

#include <memory>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

/// `others`: in the order in which they are asked.
[[nodiscard]] std::unique_ptr<Engine> auto_engine(std::vector<std::unique_ptr<Engine>> others);

}  // namespace loco::verify
