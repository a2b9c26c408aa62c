// How busy the parts of the machine have been. Usually the part that is never idle limits a run.
//
// Counted are resources that carry one thing after the other: each direction of a host's PCIe link, commits of writes
// (pcie.write_interval), the links of the network, a NIC's packet pipeline (nic.packet_gap), a bank of its atomics, a
// queue pair's own start gap (nic.qp_gap), its unit (nic.unit_time) and its answers to READs (nic.read_gap), and
// threads, whose polling does not count as work. Also counted are resources with a bounded number of things in flight:
// PCIe tags and credits, walks of the IOMMU, context fetches, processing units, READs of a queue pair. These are also
// exhausted if a resource of the first kind behind them is never idle; that one is then listed first. Stages that only
// delay (nic.transmit, nic.buffer_rate, pcie.upstream, ...) limit nothing, because many things are in them at a time.
#pragma once

#include <string>
#include <vector>

#include "sim/time.hpp"

namespace loco::nic {

/// A resource, and the share of a time in which it was busy. Reservations ahead of time may make this more than 1.
struct Usage {
  std::string resource;  ///< `PCIe downstream of node 0`
  double share = 0;

  bool operator==(const Usage&) const = default;
};

/// A resource with at least this share limits a run.
inline constexpr double kLimitingShare = 0.8;

/// True if the first of them is that busy.
[[nodiscard]] inline bool something_limits(const std::vector<Usage>& busiest) {
  return !busiest.empty() && busiest.front().share >= kLimitingShare;
}

/// `PCIe downstream of node 0 (97 %)`, or `latency (the busiest: ...)` if nothing is that busy. `busiest` must be
/// sorted by decreasing share; if it is empty, so is the result.
[[nodiscard]] std::string limited_by(const std::vector<Usage>& busiest);

}  // namespace loco::nic
