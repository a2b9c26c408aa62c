// SimGrid platforms: from a file, or from a topology. Private to fabric/flow/, and the only other place that sees
// SimGrid.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fabric/flow_network.hpp"

namespace simgrid::s4u {
class Engine;
}

namespace loco::fabric {

/// What a message's route makes of it.
using RouteOf = std::function<FlowEnd(const FlowStart&)>;

/// Hosts in the order of nodes; every link direction by itself; the routes that the packet model takes, where it takes
/// one for each pair of hosts: deterministic, or ecmp by pair. Throws FlowError.
RouteOf build_platform(simgrid::s4u::Engine& engine, const std::vector<std::string>& names, const Config& config);

}  // namespace loco::fabric
