// Integers in place of fractions, as congestion controls need them: units of 2^-30, products in 128 bits, rounded down.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/time.hpp"

namespace loco::fabric {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

/// One, in units of 2^-30.
inline constexpr std::uint64_t kUnit = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t kPerSecond = 1'000'000'000'000;  // picoseconds

/// a b / c. Precondition: it fits.
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<std::uint64_t>(Wide{a} * b / c);
}
[[nodiscard]] constexpr std::uint64_t fraction_of_thousandths(std::uint64_t thousandths) {
  return thousandths * kUnit / 1000;
}
/// Bytes that a rate sends in a time.
[[nodiscard]] constexpr std::uint64_t bytes_in(sim::BitsPerSecond rate, sim::Duration time) {
  return scaled(rate.value, static_cast<std::uint64_t>(time.ps), 8 * kPerSecond);
}
/// The rate that sends so many bytes in a time. Precondition: the time is not zero.
[[nodiscard]] constexpr std::uint64_t rate_of(std::uint64_t bytes, sim::Duration time) {
  return static_cast<std::uint64_t>(Wide{bytes} * (8 * kPerSecond) / static_cast<std::uint64_t>(time.ps));
}
/// The largest integer whose square is no larger.
[[nodiscard]] constexpr std::uint64_t square_root(std::uint64_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31U; bit != 0; bit >>= 1U) {
    if (const std::uint64_t more = root | bit; more * more <= value) root = more;
  }
  return root;
}

}  // namespace loco::fabric
