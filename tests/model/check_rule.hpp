// The check of a verdict that tests of well-formedness share.
#pragma once

#include <array>

#include "model/check.hpp"
#include "tests/catch.hpp"

namespace loco::model::test {

inline constexpr std::array kCore = {Library::rdmawait, Library::sv, Library::bal};

/// Every violation found at the library's level is of the rule, and there is one; levels below it have none.
inline void check_rule(const Trace& trace, Library library, Rule rule) {
  const Verdict v = check(trace, kCore);
  INFO(v.to_text());
  REQUIRE_FALSE(v.consistent());
  const auto& violations = v.results[static_cast<std::size_t>(library)].violations;
  REQUIRE(!violations.empty());
  for (const Violation& violation : violations) {
    CHECK(violation.rule == rule);
    CHECK(violation.cycle.empty());
    CHECK(!violation.message.empty());
  }
  for (const LibraryResult& r : v.results) CHECK((r.library >= library || r.consistent));
}

}  // namespace loco::model::test
