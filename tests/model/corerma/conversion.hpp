// The generator's programs and values as the naive enumerator's, and back.
#pragma once

#include <string>
#include <vector>

#include "model/corerma/generate.hpp"
#include "tests/model/corerma/naive.hpp"

namespace loco::model::corerma::test {

/// With the same variables.
[[nodiscard]] NaiveProgram to_naive(const Program& program);

[[nodiscard]] std::set<std::string> to_naive(RuleSet rules);

/// Every test that the generator finds, of one size, as the naive enumerator writes them. Fails if one comes twice.
[[nodiscard]] std::set<NaiveProgram> generated(GenerateOptions options, int size);

/// Values of the naive enumerator (10^k for the k-th constant) as documents have them (0, 1, 2, ... but for sums).
[[nodiscard]] std::vector<long> to_document_values(const Program& program, std::vector<long> values);

}  // namespace loco::model::corerma::test
