// Catch2, whichever of its major versions the machine has: 2 (Debian 12) or 3 (Ubuntu 24.04). Tests include this.
// Guarded by a macro, not by #pragma once: it is part of a precompiled header. GCC knows by a file's bytes what it has
// included there once; ccache gives back the header made of an older file when both are the same to the preprocessor.
#ifndef LOCO_SIM_TESTS_CATCH_HPP
#define LOCO_SIM_TESTS_CATCH_HPP

#include <cstdint>
#include <cstdlib>
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

namespace loco::test {
/// Long loops take one case in so many: sanitizers make everything some ten times slower, and the plain run has them
/// all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr unsigned kShare = 10;
#else
inline constexpr unsigned kShare = 1;
#endif

/// Loops that take seconds run a third of their random cases, and all with LOCO_SIM_ALL_CASES in the environment, as
/// `./dev test --long` and CI have it (docs/decisions/what-a-test-run-takes.md).
inline bool all_cases() {
  static const bool kAll = std::getenv("LOCO_SIM_ALL_CASES") != nullptr;
  return kAll;
}
/// How many of so many cases a loop takes.
inline std::uint64_t some(std::uint64_t cases) { return all_cases() ? cases : (cases + 2) / 3; }
}  // namespace loco::test

#endif
