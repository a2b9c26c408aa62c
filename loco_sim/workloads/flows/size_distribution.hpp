// Sizes of flows, as workloads' distributions are published: points `bytes,percent`, so many percent of the flows have
// at most so many bytes, uniform between two points, one byte at least.
//
// Integer arithmetic only: all compilers draw the same. Percentages are kept in units of 1e-9 of all flows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/rng.hpp"

namespace loco::workloads::flows {

class SizeDistribution {
 public:
  /// All flows alike.
  explicit SizeDistribution(std::uint64_t bytes) : points_{{bytes, 0}, {bytes, kAll}} {}
  /// Of the text of a file with a line `bytes,percent` and then the points, ascending, up to 100 percent. Throws
  /// text::InputError with the line in `file`.
  [[nodiscard]] static SizeDistribution read(const std::string& text, const std::string& file);

  [[nodiscard]] std::uint64_t draw(sim::Stream& stream) const;
  /// The mean in thousandths of a byte, rounded down.
  [[nodiscard]] std::uint64_t mean_thousandths() const;
  [[nodiscard]] std::uint64_t largest() const { return points_.back().bytes; }

 private:
  static constexpr std::uint64_t kAll = 1'000'000'000;
  struct Point {
    std::uint64_t bytes = 0;
    std::uint64_t share = 0;  // of all flows have at most so many bytes, in 1 / kAll
  };
  explicit SizeDistribution(std::vector<Point> points) : points_(std::move(points)) {}

  std::vector<Point> points_;
};

/// -ln(u / 2^64) in units of 2^-32, of a u above 0: what an exponential gap is made of. The error is below 2^-31.
[[nodiscard]] std::uint64_t negative_log(std::uint64_t u);

}  // namespace loco::workloads::flows
