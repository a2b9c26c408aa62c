// How busy the parts of the machine have been: what limits a run is, as a rule, the part that is never idle.
//
// Counted are resources that carry one thing after the other: each direction of a host's PCIe link, commits of writes
// (pcie.write_interval), the links of the network, a NIC's packet pipeline (nic.packet_gap), a bank of its atomics, a
// queue pair's own start gap (nic.qp_gap), its unit (nic.unit_time) and its answers to READs (nic.read_gap), and
// threads, whose polling is not work. And what a bounded number of is under way at once: PCIe tags and credits, walks
// of the IOMMU, context fetches, processing units, READs of a queue pair; these are all taken, too, where a resource of
// the first kind behind them is never idle, which then comes first. Stages that only delay (nic.transmit,
// nic.buffer_rate, pcie.upstream, ...) limit nothing: many things are in them at a time.
#pragma once

#include <string>
#include <vector>

#include "sim/time.hpp"

namespace loco::nic {

/// A resource and the share of a time in which it was busy; what was reserved ahead may make that more than 1.
struct Usage {
  std::string resource;  ///< `PCIe downstream of node 0`
  double share = 0;

  bool operator==(const Usage&) const = default;
};

/// From this share on a resource is said to limit a run.
inline constexpr double kLimitingShare = 0.8;

/// Is the first of them as busy as that?
[[nodiscard]] inline bool something_limits(const std::vector<Usage>& busiest) {
  return !busiest.empty() && busiest.front().share >= kLimitingShare;
}

/// `PCIe downstream of node 0 (97 %)`, or, where nothing is as busy as that, `latency (the busiest: ...)`. `busiest` is
/// sorted, the greatest share first; of none: empty.
[[nodiscard]] std::string limited_by(const std::vector<Usage>& busiest);

}  // namespace loco::nic
