// Reliable connections (IBTA volume 1, 9.7). nic.placement sets when packets are placed, nic.recovery how losses are
// repaired. The two belong together: in-order placement repeats everything from a gap on (go-back-N), all others only
// what is missing (selective repeat). `nic.placement: unordered` has the order of SRD with the completions of verbs.
#include "nic_model/delivery/reliable.hpp"

namespace loco::nic {

DeliveryPolicy rc_policy(const HardwareProfile& p, const DeliveryNetwork& network) {
  DeliveryPolicy policy;
  policy.operations = {.reads = true, .atomics = true};
  policy.acknowledgement = Acknowledgement::message;
  DeliveryOrder& order = policy.order;
  order.writes_early = writes_overtake(p.nic_placement);
  order.reads_early = reads_as_they_come(p.nic_placement);
  order.atomics_early = order.writes_early && p.nic_atomic_placement == AtomicPlacement::as_they_come;
  order.one_at_a_time = p.nic_placement == Placement::serial;
  order.says_where = order.overtakes();
  // A lost answer is repeated after later ones have been placed.
  order.answers_early = order.reads_early || (order.writes_early && network.loses);
  order.any_packet_next = order.overtakes() && (network.ideal || network.any_order);
  const Recovery recovery = recovery_of(p.nic_recovery, p.nic_placement);
  policy.recovery.naks_gaps = recovery != Recovery::timer;
  policy.recovery.selective = recovery == Recovery::selective_repeat && network.loses;
  policy.recovery.timer = timer_on(network);
  if (network.has_paths) policy.recovery.tolerance = p.nic_reorder_tolerance;
  policy.paths = paths_of(p.transport, false);
  return policy;
}

}  // namespace loco::nic
