// Unreliable connections (IBTA volume 1, 9.8.2): nothing is acknowledged, and a gap in the PSNs drops the message that
// it falls into.
#include "nic_model/delivery/transports.hpp"

namespace loco::nic {

DeliveryPolicy uc_policy(const HardwareProfile& profile, const DeliveryNetwork& /*network*/) {
  DeliveryPolicy policy;
  policy.order.says_where = reliable_order(profile).says_where;  // a NIC builds the packets of all its transports alike
  return policy;
}

}  // namespace loco::nic
