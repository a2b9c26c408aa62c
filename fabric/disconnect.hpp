// A port all of whose cables fail: the effect of a stopped node on the network.
#pragma once

#include "fabric/config.hpp"
#include "fabric/packet.hpp"

namespace loco::fabric {

/// Adds to `network` that all cables of a port (a host of the graph) fail at a time, for good. Its topology and nodes
/// must be set. Throws std::invalid_argument when there is no such host, or the network has no cables.
void disconnect(Config& network, PortId host, sim::SimTime at);

}  // namespace loco::fabric
