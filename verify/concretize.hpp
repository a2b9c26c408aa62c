// From a way of the set system to a schedule of the exact semantics.
#pragma once

#include <optional>
#include <vector>

#include "verify/engine.hpp"
#include "verify/semantics.hpp"
#include "verify/set_system.hpp"

namespace loco::verify {

/// Finds for each operation on the way when it has read what it wrote. The schedule breaks something; nothing when
/// there is none of this shape, which happens only where operations were merged.
[[nodiscard]] std::optional<Schedule> concretize(SetSystem& system, const std::vector<Move>& way, const Limits& limits);

}  // namespace loco::verify
