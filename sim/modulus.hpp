// Remainders by a divisor that is known long before the dividends.
//
// A multiplication by the reciprocal replaces the division, which would be by far the slowest instruction of a table
// lookup (Granlund, Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
#pragma once

#include <cstdint>

namespace loco::sim {

class Modulus {
 public:
  /// Precondition: divisor > 0.
  explicit constexpr Modulus(std::uint64_t divisor) : divisor_(divisor), reciprocal_(~std::uint64_t{0} / divisor) {}

  /// x % divisor. With r = floor((2^64 - 1) / d), x/d - x r/2^64 is at least 0 and less than 1, so the quotient below
  /// is exact or one too small.
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t x) const {
    const auto quotient = static_cast<std::uint64_t>((static_cast<Wide>(x) * reciprocal_) >> 64U);
    const std::uint64_t rest = x - quotient * divisor_;
    return rest >= divisor_ ? rest - divisor_ : rest;
  }

  [[nodiscard]] constexpr std::uint64_t divisor() const { return divisor_; }

  bool operator==(const Modulus&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t divisor_;
  std::uint64_t reciprocal_;
};

}  // namespace loco::sim
