// The arguments of `loco-sim perf` and of Python's perf().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/commands/rows.hpp"
#include "loco_sim/perf/perf.hpp"

namespace loco::commands {

struct Perf {
  perf::Options options{};  ///< without profile and size, which depend on the texts below
  std::optional<std::uint64_t> size;
  std::vector<std::uint64_t> sizes;       ///< these, one after the other
  bool all = false;                       ///< all sizes
  std::string hardware = "cx5-roce-25g";  ///< a name or a file; of Python YAML
  // of the command line alone
  std::string mtu;               ///< empty: the profile's
  std::vector<std::string> set;  ///< key=value, of the hardware
  bool report_both = false;      ///< with Options::bidirectional: a line for each direction
  bool no_peak = false;
  bool gbits = false;
  bool json = false;
  std::vector<std::string> ignored;  ///< options of perftest's that mean nothing here
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Perf>();

/// The sizes to measure, in this order; the profile is known.
[[nodiscard]] std::vector<std::uint64_t> sizes_of(const Perf& arguments);

}  // namespace loco::commands
