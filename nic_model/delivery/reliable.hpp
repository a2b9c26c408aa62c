// What reliable transports have in common.
#pragma once

#include "nic_model/delivery/transports.hpp"

namespace loco::nic {

/// Nothing comes so late: it is not taken for lost.
inline constexpr sim::Duration kNeverLate{std::int64_t{1} << 60U};

[[nodiscard]] inline TimerUse timer_on(const DeliveryNetwork& network) {
  if (network.loses) return TimerUse::always;
  return network.timers ? TimerUse::watched : TimerUse::exceptions;
}

/// `early`: packets are placed as they come.
[[nodiscard]] inline DeliveryPaths paths_of(const TransportOptions& options, bool early) {
  DeliveryPaths paths;
  paths.choice = options.choice;
  if (paths.choice == EntropyChoice::by_kind) paths.choice = early ? EntropyChoice::learned : EntropyChoice::one;
  paths.entropies = paths.choice == EntropyChoice::one ? 1 : options.entropies;
  return paths;
}

/// Of srd, rud and rudi: packets are placed as they come, requests are executed and completed when they are whole, each
/// packet is answered; what is lost is told by the headers of a trimmed packet, by later ones, or by a time-out.
[[nodiscard]] DeliveryPolicy unordered_policy(const HardwareProfile& profile, const DeliveryNetwork& network);

}  // namespace loco::nic
