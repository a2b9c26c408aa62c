// What a workload has measured in the parts of a machine (nic_model/parts.hpp), together.
#pragma once

#include <optional>
#include <vector>

#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads {

/// Of one whose hosts measure their operations themselves: all of them, in the order in which they ended. Nothing where
/// something failed: who failed first is not known.
[[nodiscard]] std::optional<Results> merge_hosts(const std::vector<Results>& parts);
/// Of one whose operations all hosts begin together: each ends when its last host has.
[[nodiscard]] std::optional<Results> merge_together(const std::vector<Results>& parts);

}  // namespace loco::workloads
