// Sizes of flows as published distributions give them: points `bytes,percent`. That percentage of flows has at most
// that many bytes; sizes are uniform between two points, and at least one byte.
//
// Uses integer arithmetic only, so that all compilers give the same draws. Percentages are in units of 1e-9 of all
// flows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/rng.hpp"

namespace loco::workloads::flows {

class SizeDistribution {
 public:
  /// All flows have this size.
  explicit SizeDistribution(std::uint64_t bytes) : points_{{bytes, 0}, {bytes, kAll}} {}
  /// Reads the text of a file: a line `bytes,percent`, then the points in ascending order up to 100 percent. Throws
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
    std::uint64_t share = 0;  // share of flows with at most that many bytes, in 1 / kAll
  };
  explicit SizeDistribution(std::vector<Point> points) : points_(std::move(points)) {}

  std::vector<Point> points_;
};

/// -ln(u / 2^64) in units of 2^-32, for u > 0; used for exponential gaps. The error is below 2^-31.
[[nodiscard]] std::uint64_t negative_log(std::uint64_t u);

}  // namespace loco::workloads::flows
