// How busy the parts of the machine have been: what limits a run is, as a rule, the part that is never idle.
//
// Counted are resources that carry one thing after the other: each direction of a host's PCIe link, the links of the
// network, a NIC's packet pipeline (nic.packet_gap), its packet buffer (nic.buffer_rate), its processing units
// (nic.units), a bank of its atomics, a queue pair's own start gap (nic.qp_gap) and its answers to READs
// (nic.read_gap), and threads, whose polling is not work. Stages that only delay (nic.transmit, pcie.upstream, ...)
// limit nothing: many things are in them at a time.
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
