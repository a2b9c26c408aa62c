// Table 6 of the coreRMA paper, for comparison with our results. Its rows, as printed, have 7,436 tests and 19,937
// outcomes; its last line says 7,441 tests.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace loco::networks {

struct PaperRow {
  std::string_view pivot;
  int processes = 1;
  int size = 0;  ///< the bound; 0: not printed
  int tests = 0;
  int ms_a_test = 0;                 ///< to generate one test
  int outcomes = 0;                  ///< expected outcomes of all tests
  std::array<int, 3> errors{};       ///< tests with unexpected outcomes: Cray DMAPP, VPI Verbs, Portals 4
  std::array<double, 3> observed{};  ///< percent of the expected outcomes
};

/// In the paper's order.
[[nodiscard]] const std::vector<PaperRow>& paper_rows();

}  // namespace loco::networks
