// The transports, each a row: a name and what makes its policy of a NIC's hardware and of what the network may do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nic_model/delivery/policy.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

/// What a policy must know of the network and the run.
struct DeliveryNetwork {
  bool ideal = false;      ///< there is none (link.ideal)
  bool loses = false;      ///< packets can be lost, or come in another order than they were sent in
  bool has_paths = false;  ///< packets of one flow may take several
  bool any_order = false;  ///< they come in any order, whatever paths there are
  bool timers = false;     ///< transport timers run although nothing is lost
};

// One file each; those of Ultra Ethernet share uet.cpp. What SRD and RUD are is one policy (reliable.hpp).
[[nodiscard]] DeliveryPolicy rc_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy rod_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy rudi_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy uc_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy ud_policy(const HardwareProfile& profile, const DeliveryNetwork& network);

/// Numbers of transports().
enum class Transport : std::uint8_t { rc, srd, rod, rud, rudi, uc, ud };
inline constexpr std::size_t kTransports = 7;

struct TransportRow {
  std::string_view name;
  DeliveryPolicy (*make)(const HardwareProfile&, const DeliveryNetwork&);
};
[[nodiscard]] std::span<const TransportRow, kTransports> transports();

/// A NIC's hardware with another transport of its reliable queue pairs.
[[nodiscard]] HardwareProfile with_transport(HardwareProfile profile, const TransportOptions& options);

/// That of a queue pair of this type.
[[nodiscard]] Transport transport_of(QpType type, const TransportOptions& options);

/// The name of what a NIC's reliable queue pairs are.
[[nodiscard]] std::string_view reliable_name(const HardwareProfile& profile);
/// How a NIC's reliable queue pairs deliver, whatever the network does.
[[nodiscard]] DeliveryPolicy reliable_policy(const HardwareProfile& profile);
[[nodiscard]] inline DeliveryOrder reliable_order(const HardwareProfile& profile) {
  return reliable_policy(profile).order;
}

}  // namespace loco::nic
