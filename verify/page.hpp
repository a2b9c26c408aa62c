// Reports as one HTML page: no scripts, nothing to fetch. A function of its arguments: times are left out.
#pragma once

#include <string>
#include <vector>

#include "verify/report.hpp"

namespace loco::verify {

/// A table of all programs, then a section for each: why, the smallest placements of flushes, the counterexample with a
/// column for each CPU and NIC, time downward. `notes`: lines of text at the end of each program's section; as many as
/// reports, or none.
[[nodiscard]] std::string to_html(const std::vector<Report>& reports, const std::vector<std::string>& notes = {});

}  // namespace loco::verify
