// Integers of programs against the machine's own, of 128 bits, across the border of 64 bits; and far beyond, against
// identities of arithmetic.
#include "verify/integer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::verify::Integer;

namespace {
__extension__ using Wide = __int128;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

std::string text(Wide value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

void compare(std::int64_t a, std::int64_t b) {
  INFO(a << ", " << b);
  const Wide x = a, y = b;
  REQUIRE((Integer(a) + b).str() == text(x + y));
  REQUIRE((Integer(a) - b).str() == text(x - y));
  REQUIRE((Integer(a) * b).str() == text(x * y));
  REQUIRE((-Integer(a)).str() == text(-x));
  REQUIRE((Integer(a) < b) == (a < b));
  REQUIRE((Integer(a) == b) == (a == b));
  REQUIRE((Integer(a) + b < Integer(b) * 2) == (x + y < y * 2));
  // What has left the 64 bits and comes back is the same as what never left.
  REQUIRE(Integer(a) + b - b == a);
  REQUIRE((Integer(a) + b - b).is_word());
  REQUIRE((Integer(a) + b).is_word() == (x + y >= kLeast && x + y <= kGreatest));
}
}  // namespace

TEST_CASE("integers add, subtract, multiply and compare as numbers do, across the border of 64 bits") {
  const std::vector<std::int64_t> edges = {kLeast, kLeast + 1, -3, -1, 0, 1, 2, 3, kGreatest - 1, kGreatest};
  for (const std::int64_t a : edges)
    for (const std::int64_t b : edges) compare(a, b);
  loco::sim::Stream rng(11, "integers");
  for (int i = 0; i < 2000; ++i) {
    const auto any = [&rng] { return static_cast<std::int64_t>(rng()) >> (rng() & 63U); };
    compare(any(), any());
  }
}

TEST_CASE("integers have no bound") {
  Integer power = 1;
  for (int i = 0; i < 500; ++i) power = power * 10;
  CHECK(power.str() == "1" + std::string(500, '0'));
  CHECK(power == Integer(power.str()));
  CHECK(power.bits() == 1661);  // 500 log2(10) = 1660.96
  CHECK((power + 1) * (power - 1) == power * power - 1);
  CHECK(-power < power);
  CHECK(-power < 0);
  CHECK((power - power).is_word());
  CHECK((-power).str() == "-" + power.str());
}

TEST_CASE("bits of integers are those of their magnitude") {
  CHECK(Integer(0).bits() == 0);
  CHECK(Integer(1).bits() == 1);
  CHECK(Integer(-8).bits() == 4);
  CHECK(Integer(kLeast).bits() == 64);
  CHECK(Integer("18446744073709551616").bits() == 65);
}
