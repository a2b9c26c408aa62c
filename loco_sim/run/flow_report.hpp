// Results of a run's flows: slowdowns by size, and the list as a file (docs/flows.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/workloads/flows/flow.hpp"

namespace loco {

/// The end of a flow for slowdowns.
enum class FlowsEnd : std::uint8_t { received, completed };

/// Time from its start to its end over its ideal time; at least 1 with `at_least_one`. Negative if it has not ended.
[[nodiscard]] double slowdown(const workloads::flows::FlowRecord& flow, FlowsEnd end, bool at_least_one);

/// A flow that has ended.
struct SlowedFlow {
  std::uint64_t bytes = 0;
  double slowdown = 0;
};
[[nodiscard]] std::vector<SlowedFlow> ended(const std::vector<workloads::flows::FlowRecord>& flows, FlowsEnd end,
                                            bool at_least_one);

/// Flows of about one size.
struct SlowdownBin {
  std::uint64_t flows = 0;
  std::uint64_t largest = 0;  ///< in bytes
  double mean = 0;
  double p50 = 0;  ///< element floor(n p) of the sorted ones, as the authors of the HPCC paper compute it
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
};

/// Bins by size with about equal numbers of flows, and with flows of equal size in the same bin, as in the plots of the
/// HPCC paper (SIGCOMM 2019). If there are too few flows, there are fewer bins.
[[nodiscard]] std::vector<SlowdownBin> slowdowns_by_size(std::vector<SlowedFlow> flows, std::size_t bins);
/// Two bins: flows of less than `bytes`, and of at least `bytes`. A bin without flows is left out.
[[nodiscard]] std::vector<SlowdownBin> slowdowns_around(std::vector<SlowedFlow> flows, std::uint64_t bytes);

/// The list as CSV: a line of names, then a line for each flow. Times of things that have not happened are empty.
[[nodiscard]] std::string flows_csv(const std::vector<workloads::flows::FlowRecord>& flows, std::string_view workload,
                                    FlowsEnd end, bool at_least_one);

}  // namespace loco
