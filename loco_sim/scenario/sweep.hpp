// The sweep of a scenario: dotted keys, and for each the values it takes or the distribution they are drawn from
// (docs/sweeps.md). Ranges are written out here; random values are drawn by whoever runs the sweep, so that there is
// one generator of them.
//
// Every value, and both bounds of a distribution, are tried on the scenario while it is read, so that a sweep does not
// fail half-way. Throws InputError.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace loco::scenario {

inline constexpr std::size_t kSweepValuesMax = 1'000;  ///< of all axes together
inline constexpr std::size_t kSweepRunsMax = 1'000'000;

/// One axis of a sweep: a dotted key and the values it takes.
struct SweepAxis {
  enum class Kind : std::uint8_t {
    list,     ///< `values` are all of them
    uniform,  ///< drawn from `values[0]` to `values[1]`
    choice,   ///< one of `values`, each as likely
  };
  std::string key;
  std::vector<std::string> values;  ///< as one would write them
  Kind kind = Kind::list;
  bool log = false;  ///< uniform: every octave is as likely
};

struct Sweep {
  std::vector<SweepAxis> axes;
  std::uint64_t samples = 1;      ///< draws from the random axes, at each combination of the others
  std::uint64_t sample_seed = 1;  ///< decides the draws

  /// Is anything drawn?
  [[nodiscard]] bool draws() const;
  /// Combinations of the lists, times the samples.
  [[nodiscard]] std::size_t runs() const;
};

/// Reads `value` at the dotted `key` of the scenario as if it stood there; throws text::InputError when it does not
/// fit.
using SweepTrial = std::function<void(const std::string& key, const yaml::Node& value)>;

[[nodiscard]] Sweep read_sweep(const yaml::Node& sweep, const SweepTrial& trial);

}  // namespace loco::scenario
