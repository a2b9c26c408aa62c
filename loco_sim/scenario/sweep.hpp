// The sweep of a scenario: dotted keys, each with the values it takes or the distribution they are drawn from
// (docs/sweeps.md). Ranges are expanded here. Random values are drawn by the caller that runs the sweep, so that there
// is one generator for all of them.
//
// Every value, and both bounds of a distribution, are checked against the scenario while it is read, so that a sweep
// does not fail half-way. Throws InputError.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace loco::scenario {

inline constexpr std::size_t kSweepValuesMax = 1'000;  ///< for all axes together
inline constexpr std::size_t kSweepRunsMax = 1'000'000;

/// One axis of a sweep: a dotted key and the values it takes.
struct SweepAxis {
  enum class Kind : std::uint8_t {
    list,     ///< all of `values`
    uniform,  ///< drawn between `values[0]` and `values[1]`
    choice,   ///< one of `values` with equal probability
  };
  std::string key;
  std::vector<std::string> values;  ///< as a user would write them
  Kind kind = Kind::list;
  bool log = false;  ///< uniform: each octave is equally likely
};

struct Sweep {
  std::vector<SweepAxis> axes;
  std::uint64_t samples = 1;      ///< number of draws from the random axes, for each combination of the others
  std::uint64_t sample_seed = 1;  ///< seed of the draws

  /// True if any axis is random.
  [[nodiscard]] bool draws() const;
  /// Number of combinations of the lists times the samples.
  [[nodiscard]] std::size_t runs() const;
};

/// Reads `value` as if it stood at the dotted `key` of the scenario. Throws text::InputError if it is invalid.
using SweepTrial = std::function<void(const std::string& key, const yaml::Node& value)>;

[[nodiscard]] Sweep read_sweep(const yaml::Node& sweep, const SweepTrial& trial);

}  // namespace loco::scenario
