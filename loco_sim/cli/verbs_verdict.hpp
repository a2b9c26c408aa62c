// The verdict on a run of a verbs program, as `loco-sim check` and `loco-sim exec --trace` print it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "trace/trace.hpp"

namespace loco::cli {

struct VerbsVerdict {
  bool consistent = true;  ///< the memory model allows the run
  bool races = false;      ///< some, or a warning
  bool right = true;       ///< consistent, and no race is an error
  std::string text;        ///< lines
  nlohmann::ordered_json json;
};

/// Throws std::invalid_argument for a trace that is none of a verbs program.
[[nodiscard]] VerbsVerdict judge_verbs(const trace::Trace& trace);

}  // namespace loco::cli
