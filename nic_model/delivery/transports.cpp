#include "nic_model/delivery/transports.hpp"

#include <array>

#include "nic_model/delivery/reliable.hpp"

namespace loco::nic {

std::span<const TransportRow, kTransports> transports() {
  static constexpr std::array<TransportRow, kTransports> kRows = {{{"rc", rc_policy},
                                                                   {"srd", unordered_policy},
                                                                   {"uet, rod", rod_policy},
                                                                   {"uet, rud", unordered_policy},
                                                                   {"uet, rudi", rudi_policy},
                                                                   {"uc", uc_policy},
                                                                   {"ud", ud_policy}}};
  return kRows;
}

HardwareProfile with_transport(HardwareProfile profile, const TransportOptions& options) {
  profile.transport = options;
  return profile;
}

Transport transport_of(QpType type, const TransportOptions& options) {
  if (type == QpType::uc) return Transport::uc;
  if (type == QpType::ud) return Transport::ud;
  if (options.kind == TransportKind::rc) return Transport::rc;
  if (options.kind == TransportKind::srd) return Transport::srd;
  if (options.mode == UetMode::rod) return Transport::rod;
  return options.mode == UetMode::rud ? Transport::rud : Transport::rudi;
}

std::string_view reliable_name(const HardwareProfile& profile) {
  return transports()[static_cast<std::size_t>(transport_of(QpType::rc, profile.transport))].name;
}

DeliveryPolicy reliable_policy(const HardwareProfile& profile) {
  const Transport transport = transport_of(QpType::rc, profile.transport);
  return transports()[static_cast<std::size_t>(transport)].make(profile, {});
}

}  // namespace loco::nic
