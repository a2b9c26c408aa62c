// A result as bytes, from one process of a program to another: the same build at both ends, so no version and no care
// for byte order. The trace goes in the trace format; the verdict is not part of it.
#pragma once

#include <string>
#include <string_view>

#include "loco_sim/run/run.hpp"

namespace loco {

[[nodiscard]] std::string to_bytes(const RunResult& result);
/// Throws std::logic_error when the bytes are not those of a result.
[[nodiscard]] RunResult result_from_bytes(std::string_view bytes);

}  // namespace loco
