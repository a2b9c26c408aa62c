// Unreliable datagrams (IBTA volume 1, 9.8.3): each packet is a message, to any queue pair; nothing is acknowledged.
#include "nic_model/delivery/transports.hpp"

namespace loco::nic {

DeliveryPolicy ud_policy(const HardwareProfile& /*profile*/, const DeliveryNetwork& /*network*/) {
  DeliveryPolicy policy;
  policy.operations = {.writes = false};
  return policy;
}

}  // namespace loco::nic
