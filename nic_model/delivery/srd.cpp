// A transport like Amazon's Scalable Reliable Datagram (Shalev et al., "A Cloud-Optimized Transport Protocol for
// Elastic and Scalable HPC", IEEE Micro 2020; AWS' EFA, rdma-core providers/efa): up to 64 paths, no order among
// messages, no atomics. Ultra Ethernet's RUD has the same policy (uet.cpp).
#include "nic_model/delivery/reliable.hpp"

namespace loco::nic {

DeliveryPolicy unordered_policy(const HardwareProfile& p, const DeliveryNetwork& network) {
  DeliveryPolicy policy;
  policy.operations = {.reads = true};
  policy.order = {.writes_early = true,
                  .reads_early = true,
                  .answers_early = true,
                  .any_packet_next = network.ideal || network.any_order,
                  .says_where = true,
                  .when_whole = true};
  policy.acknowledgement = Acknowledgement::packet;
  policy.recovery = {.selective = true, .timer = timer_on(network), .rto_least = p.transport.rto_least};
  policy.recovery.tolerance = network.has_paths ? p.nic_reorder_tolerance : sim::Duration{};
  if (!network.loses) policy.recovery.tolerance = kNeverLate;
  policy.paths = paths_of(p.transport, true);
  return policy;
}

}  // namespace loco::nic
