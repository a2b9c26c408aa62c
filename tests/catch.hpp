// Catch2, whichever of its major versions the machine has: 2 (Debian 12) or 3 (Ubuntu 24.04). Tests include this.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
namespace loco::test {
/// Matches a string that has `text` in it: version 3 gave the matcher another name.
inline auto contains_text(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
}  // namespace loco::test
#else
#include <catch2/catch.hpp>
namespace loco::test {
/// Matches a string that has `text` in it: version 3 gave the matcher another name.
inline auto contains_text(const std::string& text) { return Catch::Matchers::Contains(text); }
}  // namespace loco::test
#endif
