// Until when exploring and sampling may go on.
#pragma once

#include "sim/budget.hpp"

namespace loco::explore {
using sim::Deadline;
}  // namespace loco::explore
