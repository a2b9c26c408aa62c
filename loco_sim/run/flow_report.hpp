// What a run's flows come to: slowdowns by size, and the list as a file (docs/flows.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/workloads/flows/flow.hpp"

namespace loco {

/// Which end of a flow a slowdown counts to.
enum class FlowsEnd : std::uint8_t { received, completed };

/// From its start to its end over its ideal time; with `at_least_one` never less. Negative: it has not ended.
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
  std::uint64_t largest = 0;  ///< bytes
  double mean = 0;
  double p50 = 0;  ///< at index floor(n p) of those in order, as the authors of the HPCC paper compute it
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
};

/// Bins have about equal numbers of flows, by size, all of one size in one of them, as in the plots of the HPCC paper
/// (SIGCOMM 2019); fewer bins where there are fewer flows.
[[nodiscard]] std::vector<SlowdownBin> slowdowns_by_size(std::vector<SlowedFlow> flows, std::size_t bins);
/// Two bins: flows below so many bytes, and from so many on. One without flows is left out.
[[nodiscard]] std::vector<SlowdownBin> slowdowns_around(std::vector<SlowedFlow> flows, std::uint64_t bytes);

/// The list as CSV: a line of names, then a line a flow. What has not happened is empty.
[[nodiscard]] std::string flows_csv(const std::vector<workloads::flows::FlowRecord>& flows, std::string_view workload,
                                    FlowsEnd end, bool at_least_one);

}  // namespace loco
