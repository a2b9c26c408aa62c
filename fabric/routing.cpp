// Fabric: which port a packet takes (fabric/topology/routes.hpp has the candidates).
#include <algorithm>
#include <limits>

#include "fabric/fabric.hpp"

namespace loco::fabric {

topology::LinkId Fabric::choose(topology::VertexId at, const Entry& entry, sim::SimTime now) {
  const topology::Topology& graph = network_->graph;
  const topology::Routes& routes = *routes_;
  const Routing routing = config_.options.routing;
  if (routing == Routing::deterministic || routing == Routing::ecmp) {
    if (rerouted_ && routes.candidates(at, entry.destination).empty()) return kNone;
    return graph.out(at, routing == Routing::deterministic ? routes.deterministic(at, entry.destination)
                                                           : routes.ecmp(at, entry.destination, entry.flow));
  }
  const std::span<const topology::PortId> ports = routes.candidates(at, entry.destination);
  if (ports.empty()) return kNone;
  if (ports.size() == 1) return graph.out(at, ports.front());
  if (routing == Routing::adaptive) return least_loaded(at, ports, entry, now);
  // A switch knows which of its own links are down.
  std::size_t up = 0;
  for (const topology::PortId port : ports) up += lane_of(graph.out(at, port)).down ? 0U : 1U;
  if (up == 0) return graph.out(at, ports.front());
  std::size_t pick = stream_.below(up);
  for (const topology::PortId port : ports) {
    const topology::LinkId link = graph.out(at, port);
    if (!lane_of(link).down && pick-- == 0) return link;
  }
  return kNone;
}

/// The port that would send a further packet first. Among equals, the flow's own (as ecmp would choose), then the
/// next ones round: so that idle ports are not all sought in the same order.
topology::LinkId Fabric::least_loaded(topology::VertexId at, std::span<const topology::PortId> ports,
                                      const Entry& entry, sim::SimTime now) const {
  const topology::Topology& graph = network_->graph;
  constexpr std::int64_t kPaused = std::numeric_limits<std::int64_t>::max() / 4;
  const topology::PortId own = routes_->ecmp(at, entry.destination, entry.flow);
  std::size_t i = 0;
  while (ports[i] != own) ++i;
  topology::LinkId best = graph.out(at, own);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t n = 0; n < ports.size(); ++n) {
    const topology::LinkId link = graph.out(at, ports[i]);
    i = i + 1 == ports.size() ? 0 : i + 1;
    const Lane& lane = lane_of(link);
    if (lane.down) continue;
    const std::int64_t load = lane.paused ? kPaused + static_cast<std::int64_t>(lane.queued)
                                          : std::max<std::int64_t>(0, (lane.planned - now).ps);
    if (load < least) {
      least = load;
      best = link;
    }
  }
  return best;
}

}  // namespace loco::fabric
