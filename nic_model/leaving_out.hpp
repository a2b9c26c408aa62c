// When equal times say that what follows is the same: for leaving out what only repeats (docs/fast-forward.md).
#pragma once

#include <span>

#include "fabric/congestion/congestion.hpp"
#include "fabric/options.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/transport_options.hpp"

namespace loco::nic {

/// True if network and NICs draw nothing at random and remember nothing of what has been but what is queued and in
/// flight. `congestion`, `transports`: those that some queue pairs have besides (SystemConfig).
[[nodiscard]] bool times_tell_state(const fabric::Options& network, const HardwareProfile& profile,
                                    std::span<const fabric::CongestionSettings> congestion,
                                    std::span<const TransportOptions> transports);

}  // namespace loco::nic
