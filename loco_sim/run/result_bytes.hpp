// A result as bytes, to pass it between processes of the same program. Both ends are the same build, so there is no
// version and no byte order. The trace uses the trace format; the verdict is not included.
#pragma once

#include <string>
#include <string_view>

#include "loco_sim/run/run.hpp"

namespace loco {

[[nodiscard]] std::string to_bytes(const RunResult& result);
/// Throws std::logic_error if the bytes are not a result.
[[nodiscard]] RunResult result_from_bytes(std::string_view bytes);

}  // namespace loco
