// Small random executions: random calls of rdmawait, sv and bal on a few nodes, executed mostly in an order that
// the models allow and sometimes not, with a witness that is always well-formed. A function of the seed alone.
#pragma once

#include <cstdint>

#include "model/trace.hpp"

namespace loco::model::test {

[[nodiscard]] Trace random_trace(std::uint64_t seed);

}  // namespace loco::model::test
