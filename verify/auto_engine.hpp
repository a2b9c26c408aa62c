// `--engine auto`: engines in rounds, each with eight times as much to spend as the one before. The explicit one first,
// for as many points as take it a tenth of a second or so: it decides nearly all programs with finite data at once.
// Then the other one, which knows infinite data. What they may spend is counted in points and ticks, never in seconds.
//
// Under `verbs` and `in-order` the question is asked of `unordered` first, in each round: each weaker network shows all
// that a stronger one shows (docs/verify.md), so that a proof there counts; a counterexample there says nothing, and
// one without a network does. A proof without a network counts where no network makes a difference (done_at_once.hpp).
#pragma once

#include <functional>
#include <memory>

#include "verify/engine.hpp"

namespace loco::verify {

/// `other` makes the engine that is asked beside the explicit one, one for each network.
[[nodiscard]] std::unique_ptr<Engine> auto_engine(std::function<std::unique_ptr<Engine>()> other);

}  // namespace loco::verify
