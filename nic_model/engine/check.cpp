#include "nic_model/engine/check.hpp"

#include <fmt/format.h>

#include "sim/invariant.hpp"

namespace loco::nic {

void Check::fail(std::string_view what) const {
  sim::broken_invariant(now_, unit_, what, fmt::format("{} {}", of_, index_));
}

}  // namespace loco::nic
