// Simulated time, sizes and rates as strong types.
//
// Time is an integer count of picoseconds: 2^63 ps is about 106 days. Event times never pass through floating
// point. The one rounding rule: a time that is not a whole number of picoseconds is rounded up, so that a
// resource is never free before it really is.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace loco::sim {

/// A span of simulated time in picoseconds; may be negative as an intermediate value.
struct Duration {
  std::int64_t ps = 0;

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return {ps + o.ps}; }
  constexpr Duration operator-(Duration o) const { return {ps - o.ps}; }
  constexpr Duration operator*(std::int64_t k) const { return {ps * k}; }
  constexpr Duration& operator+=(Duration o) {
    ps += o.ps;
    return *this;
  }
  /// For reports only.
  [[nodiscard]] constexpr double nanoseconds() const { return static_cast<double>(ps) * 1e-3; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps) * 1e-12; }
};

/// An instant of simulated time, in picoseconds since the run began.
struct SimTime {
  std::int64_t ps = 0;

  static constexpr SimTime max() { return {std::numeric_limits<std::int64_t>::max()}; }
  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime operator+(Duration d) const { return {ps + d.ps}; }
  constexpr SimTime operator-(Duration d) const { return {ps - d.ps}; }
  constexpr Duration operator-(SimTime o) const { return {ps - o.ps}; }
  constexpr SimTime& operator+=(Duration d) {
    ps += d.ps;
    return *this;
  }
};

/// A number of bytes.
struct Bytes {
  std::uint64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes o) const { return {count + o.count}; }
  constexpr Bytes operator-(Bytes o) const { return {count - o.count}; }
  constexpr Bytes& operator+=(Bytes o) {
    count += o.count;
    return *this;
  }
};

/// A data rate in bits per second; zero means "takes no time".
struct BitsPerSecond {
  std::uint64_t value = 0;

  constexpr auto operator<=>(const BitsPerSecond&) const = default;
};

/// Time to send `size` at `rate`, rounded up to a picosecond. A zero rate means an ideal link: no time.
[[nodiscard]] constexpr Duration transmission_time(Bytes size, BitsPerSecond rate) {
  if (rate.value == 0) return {};
  constexpr std::uint64_t kPsBits = std::uint64_t{8} * 1'000'000'000'000U;
  if (size.count <= (std::uint64_t{1} << 20U) && rate.value < (std::uint64_t{1} << 62U))  // packets: no wide division
    return {static_cast<std::int64_t>((size.count * kPsBits + rate.value - 1) / rate.value)};
  __extension__ using Wide = unsigned __int128;
  const auto bits_ps = static_cast<Wide>(size.count) * 8U * 1'000'000'000'000U;
  return {static_cast<std::int64_t>((bits_ps + rate.value - 1) / rate.value)};
}

inline namespace literals {
constexpr Duration operator""_ps(unsigned long long v) { return {static_cast<std::int64_t>(v)}; }
constexpr Duration operator""_ns(unsigned long long v) { return {static_cast<std::int64_t>(v) * 1'000}; }
constexpr Duration operator""_us(unsigned long long v) { return {static_cast<std::int64_t>(v) * 1'000'000}; }
constexpr Duration operator""_ms(unsigned long long v) { return {static_cast<std::int64_t>(v) * 1'000'000'000}; }
constexpr Bytes operator""_B(unsigned long long v) { return {v}; }
constexpr Bytes operator""_KiB(unsigned long long v) { return {v << 10U}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return {v << 20U}; }
constexpr BitsPerSecond operator""_Gbps(unsigned long long v) { return {v * 1'000'000'000U}; }
}  // namespace literals

}  // namespace loco::sim
