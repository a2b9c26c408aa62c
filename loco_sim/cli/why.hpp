// `run --why`: the stages of the median operation of each kind, as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "loco_sim/run/run.hpp"

namespace loco::cli {

/// Precondition of both: the result has a trace with activities (trace.level: packets).
[[nodiscard]] std::string why_text(const RunResult& result);
[[nodiscard]] nlohmann::ordered_json why_json(const RunResult& result);

}  // namespace loco::cli
