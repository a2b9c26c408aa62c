// The time limit of exploring and sampling.
#pragma once

#include "sim/budget.hpp"

namespace loco::explore {
using sim::Deadline;
}  // namespace loco::explore
