// The transports, one row each: a name, and the function that makes its policy from a NIC's hardware and from what the
// network may do.
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
  bool ideal = false;      ///< there is no network (link.ideal)
  bool loses = false;      ///< packets can be lost or reordered
  bool has_paths = false;  ///< packets of one flow may take several paths
  bool any_order = false;  ///< packets arrive in any order, whatever the paths
  bool timers = false;     ///< transport timers run although nothing is lost
};

// Each is implemented in a file of its own; those of Ultra Ethernet share uet.cpp. SRD and RUD share one policy
// (reliable.hpp).
[[nodiscard]] DeliveryPolicy rc_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy rod_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy rudi_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy uc_policy(const HardwareProfile& profile, const DeliveryNetwork& network);
[[nodiscard]] DeliveryPolicy ud_policy(const HardwareProfile& profile, const DeliveryNetwork& network);

/// Indices of transports().
enum class Transport : std::uint8_t { rc, srd, rod, rud, rudi, uc, ud };
inline constexpr std::size_t kTransports = 7;

struct TransportRow {
  std::string_view name;
  DeliveryPolicy (*make)(const HardwareProfile&, const DeliveryNetwork&);
};
[[nodiscard]] std::span<const TransportRow, kTransports> transports();

/// A NIC's hardware with another transport of its reliable queue pairs.
[[nodiscard]] HardwareProfile with_transport(HardwareProfile profile, const TransportOptions& options);

/// The transport of a queue pair of this type.
[[nodiscard]] Transport transport_of(QpType type, const TransportOptions& options);

/// Name of the transport that a NIC's RC queue pairs have.
[[nodiscard]] std::string_view reliable_name(const HardwareProfile& profile);
/// The policy of a NIC's RC queue pairs on a network without faults.
[[nodiscard]] DeliveryPolicy reliable_policy(const HardwareProfile& profile);
[[nodiscard]] inline DeliveryOrder reliable_order(const HardwareProfile& profile) {
  return reliable_policy(profile).order;
}

}  // namespace loco::nic
