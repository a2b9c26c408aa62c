// Verdicts of robustness as JSON and in words (docs/robustness.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/litmus/answers/robust.hpp"

namespace loco::model::litmus {

struct RobustReport {
  const Program* program = nullptr;
  std::string model;
  Robustness result;
  double seconds = 0;
};

/// One object of the array that `loco-sim robust --json` prints.
[[nodiscard]] nlohmann::ordered_json robust_json(const RobustReport& report);
/// `Test NAME Robust | Not robust | Unknown`, the cycle (an access a line), the smallest repairs.
[[nodiscard]] std::string to_text(const RobustReport& report);

}  // namespace loco::model::litmus
