// A transport like that of Ultra Ethernet 1.0 (UEC specification; Linux RFC drivers/ultraeth), with its modes of packet
// delivery.
//   ROD   reliable, ordered: one entropy; packets that arrive early are dropped and requested again
//   RUD   reliable, unordered: many entropies, each request takes effect once; unordered_policy, as SRD
//   RUDI  for idempotent operations, WRITE and READ only: a repeated request takes effect again
#include "nic_model/delivery/reliable.hpp"

namespace loco::nic {

DeliveryPolicy rod_policy(const HardwareProfile& p, const DeliveryNetwork& network) {
  DeliveryPolicy policy;
  policy.operations = {.reads = true, .atomics = true};
  policy.acknowledgement = Acknowledgement::packet;
  policy.recovery = {.timer = timer_on(network), .rto_least = p.transport.rto_least};
  return policy;
}

DeliveryPolicy rudi_policy(const HardwareProfile& p, const DeliveryNetwork& network) {
  DeliveryPolicy policy = unordered_policy(p, network);
  policy.operations = {.sends = false, .reads = true, .immediate = false};
  policy.order.may_repeat = true;
  return policy;
}

}  // namespace loco::nic
