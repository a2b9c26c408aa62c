// What the reliable transports share.
#pragma once

#include "nic_model/delivery/transports.hpp"

namespace loco::nic {

/// A tolerance that no packet exceeds, so that none counts as lost.
inline constexpr sim::Duration kNeverLate{std::int64_t{1} << 60U};

[[nodiscard]] inline TimerUse timer_on(const DeliveryNetwork& network) {
  if (network.loses) return TimerUse::always;
  return network.timers ? TimerUse::watched : TimerUse::exceptions;
}

/// `early`: packets are placed as they arrive.
[[nodiscard]] inline DeliveryPaths paths_of(const TransportOptions& options, bool early) {
  DeliveryPaths paths;
  paths.choice = options.choice;
  if (paths.choice == EntropyChoice::by_kind) paths.choice = early ? EntropyChoice::learned : EntropyChoice::one;
  paths.entropies = paths.choice == EntropyChoice::one ? 1 : options.entropies;
  return paths;
}

/// The policy of srd, rud and rudi: packets are placed as they arrive, requests are executed and completed once they
/// are whole, and each packet is answered. A loss is detected by the header of a trimmed packet, by later packets, or
/// by a timeout.
[[nodiscard]] DeliveryPolicy unordered_policy(const HardwareProfile& profile, const DeliveryNetwork& network);

}  // namespace loco::nic
