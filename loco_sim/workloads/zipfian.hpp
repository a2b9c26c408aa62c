// Which of n items is requested, if some are requested much more often than others: the item of rank r with probability
// proportional to 1 / (r + 1)^0.99, as in YCSB.
//
// The generator is that of Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), which
// YCSB uses (Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010). Like YCSB's scrambled generator
// it spreads the ranks over the items with FNV-1a, so that popular items are not adjacent. It is approximate: ranks
// above 1 come from a closed formula. Doubles are acceptable here, because this is a choice of the programs and not of
// the machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/rng.hpp"

namespace loco::workloads {

class Zipfian {
 public:
  static constexpr double kTheta = 0.99;

  explicit Zipfian(std::uint64_t items) : items_(items) {
    for (std::uint64_t i = 1; i <= std::min(items, kSummed); ++i) zeta_ += std::pow(static_cast<double>(i), -kTheta);
    if (items > kSummed) zeta_ += rest(static_cast<double>(items)) - rest(static_cast<double>(kSummed));
    const double zeta_of_two = 1 + std::pow(2.0, -kTheta);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(items), 1 - kTheta)) / (1 - zeta_of_two / zeta_);
  }

  [[nodiscard]] std::uint64_t rank(sim::Stream& stream) const {
    const double u = static_cast<double>(stream() >> 11U) * 0x1.0p-53;
    const double uz = u * zeta_;
    if (uz < 1 || items_ == 1) return 0;
    if (uz < 1 + std::pow(0.5, kTheta)) return 1;
    const double r = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta));
    return r < static_cast<double>(items_) ? static_cast<std::uint64_t>(r) : items_ - 1;
  }
  /// The item, in [0, items).
  [[nodiscard]] std::uint64_t item(sim::Stream& stream) const { return scrambled(rank(stream)) % items_; }

 private:
  static std::uint64_t scrambled(std::uint64_t rank) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (unsigned shift = 0; shift < 64; shift += 8) hash = (hash ^ (rank >> shift & 0xffU)) * 0x100000001b3U;
    return hash;
  }

  /// The sum of i^-theta up to n except for a constant, by the Euler-Maclaurin formula; the error is below 1e-20.
  static double rest(double n) {
    return std::pow(n, 1 - kTheta) / (1 - kTheta) + std::pow(n, -kTheta) / 2 - kTheta * std::pow(n, -kTheta - 1) / 12;
  }

  static constexpr std::uint64_t kSummed = std::uint64_t{1} << 22U;  ///< terms added one by one

  std::uint64_t items_;
  double zeta_ = 0;
  double eta_ = 0;
};

}  // namespace loco::workloads
