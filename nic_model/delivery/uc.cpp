// Unreliable connections (IBTA volume 1, 9.8.2): nothing is acknowledged, a gap in the PSNs gives up the message that
// it cuts.
#include "nic_model/delivery/transports.hpp"

namespace loco::nic {

DeliveryPolicy uc_policy(const HardwareProfile& profile, const DeliveryNetwork& /*network*/) {
  DeliveryPolicy policy;
  policy.order.says_where = reliable_order(profile).says_where;  // NICs build the packets of all transports alike
  return policy;
}

}  // namespace loco::nic
