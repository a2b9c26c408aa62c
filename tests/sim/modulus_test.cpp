#include "sim/modulus.hpp"

#include <cstdint>
#include <limits>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::sim::Modulus;

namespace {
constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max();

/// Numbers of all sizes, and those next to multiples of d, where a quotient is most easily wrong by one.
void compare(std::uint64_t d, loco::sim::Stream& rng) {
  const Modulus modulus(d);
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, d - 1, d, d + 1, kGreatest - 1, kGreatest})
    REQUIRE(modulus.of(x) == x % d);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = rng() >> (rng() & 63U);
    REQUIRE(modulus.of(x) == x % d);
    const std::uint64_t multiple = x - x % d;
    REQUIRE(modulus.of(multiple) == 0);
    REQUIRE(modulus.of(multiple - 1) == (multiple - 1) % d);
  }
}
}  // namespace

TEST_CASE("a remainder by multiplication is that of the division") {
  loco::sim::Stream rng(7, "modulus test");
  for (std::uint64_t d = 1; d <= 300; ++d) compare(d, rng);
  for (unsigned shift = 1; shift < 64; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    for (const std::uint64_t d : {power - 1, power, power + 1}) compare(d, rng);
  }
  for (int i = 0; i < 300; ++i) compare((rng() >> (rng() & 63U)) | 1U, rng);
  compare(kGreatest, rng);
}
