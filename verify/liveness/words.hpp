// Answers about liveness for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "verify/liveness/check.hpp"
#include "verify/semantics.hpp"

namespace loco::verify::liveness {

/// `live`, `not live` or `liveness unknown`, of all properties together.
[[nodiscard]] std::string verdict_text(const std::vector<LiveAnswer>& answers);
/// The answer that the verdict of all comes from.
[[nodiscard]] const LiveAnswer& deciding(const std::vector<LiveAnswer>& answers);

/// A line for each property when there are several, and lassos step by step.
[[nodiscard]] std::string to_text(const Semantics& semantics, const std::vector<LiveAnswer>& answers);

/// `"liveness"` of docs/verify.md.
[[nodiscard]] nlohmann::ordered_json to_json(const Semantics& semantics, const std::vector<LiveAnswer>& answers);

/// The flushes that do not count and that the lasso passes, in its stem or loop, while they would have had to wait: any
/// one of them, had it counted, would have made it impossible. Ascending.
[[nodiscard]] std::vector<std::uint32_t> flushes_that_would_wait(const Semantics& semantics, const Lasso& lasso);

}  // namespace loco::verify::liveness
