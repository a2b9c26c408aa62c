// Fabric: which port a packet takes (fabric/topology/routes.hpp has the candidates).
#include <algorithm>
#include <limits>

#include "fabric/packet_network.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

topology::LinkId PacketNetwork::choose(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                       const Entry& entry) {
  const topology::Topology& graph = wiring_->graph;
  const topology::Routes& routes = *routes_;
  const Routing routing = config_.options.routing;
  if (has_fixed_ports() && has_planes() && graph.is_host(at)) {
    const std::span<const topology::PortId> ports = routes.candidates(at, entry.destination);
    return ports.empty() ? kNone : first_free(at, ports);
  }
  if (has_fixed_ports()) {
    if (rerouted_ && routes.candidates(at, entry.destination).empty()) return kNone;
    return graph.out(at, routing == Routing::deterministic ? routes.deterministic(at, entry.destination)
                                                           : routes.ecmp(at, entry.destination, entry.flow));
  }
  const std::span<const topology::PortId> ports = routes.candidates(at, entry.destination);
  if (ports.empty()) return kNone;
  if (ports.size() == 1) return graph.out(at, ports.front());
  if (has_planes() && graph.is_host(at)) return first_free(at, ports);
  if (routing == Routing::adaptive) return least_loaded(events, now, at, ports);
  // A switch knows which of its own links are down.
  std::size_t up = 0;
  for (const topology::PortId port : ports) up += lane_of(graph.out(at, port)).down ? 0U : 1U;
  if (up == 0) {
    LOCO_PROBE(all_paths_down);
    return graph.out(at, ports.front());
  }
  if (up < ports.size()) LOCO_PROBE(switch_avoids_a_link_that_is_down);
  std::size_t pick = stream_of(at).below(up);
  for (const topology::PortId port : ports) {
    const topology::LinkId link = graph.out(at, port);
    if (!lane_of(link).down && pick-- == 0) return link;
  }
  return kNone;
}

/// The port with the fewest bytes waiting; among equals one at random. The packet that is being sent does not count: if
/// it did, then under full load each flow would find the port that it used last free first, and never leave that path,
/// however long the queues are further on.
topology::LinkId PacketNetwork::least_loaded(sim::EventQueue& events, sim::SimTime now, topology::VertexId at,
                                             std::span<const topology::PortId> ports) {
  const topology::Topology& graph = wiring_->graph;
  constexpr std::uint64_t kPaused = std::uint64_t{1} << 62U;
  std::size_t i = stream_of(at).below(ports.size());
  topology::LinkId best = graph.out(at, ports[i]);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t n = 0; n < ports.size(); ++n) {
    const topology::LinkId link = graph.out(at, ports[i]);
    i = i + 1 == ports.size() ? 0 : i + 1;
    const Lane& lane = lane_of(link);
    if (lane.down) {
      LOCO_PROBE(switch_avoids_a_link_that_is_down);
      continue;
    }
    if (lane.paused) LOCO_PROBE(switch_sees_a_paused_port);
    advance(events, link, now);
    const std::uint64_t load = lane.queued + (lane.paused ? kPaused : 0);
    if (load < least) {
      least = load;
      best = link;
    }
  }
  return best;
}

/// A host's ports on shortest paths to another.
std::span<const topology::PortId> PacketNetwork::ports_to(NodeId host, NodeId to) const {
  return routes_->candidates(host, to);
}

/// Of a host's ports the one that will first have sent what it has; among equals the one that has been idle longest,
/// which is in turn. One that is paused or down is the last choice.
topology::LinkId PacketNetwork::first_free(NodeId host, std::span<const topology::PortId> ports) const {
  const topology::Topology& graph = wiring_->graph;
  const auto later = [&](topology::LinkId a, topology::LinkId b) {
    const Lane& one = lane_of(a);
    const Lane& other = lane_of(b);
    if (one.down != other.down) return one.down;
    if (one.paused != other.paused) return one.paused;
    return other.planned < one.planned;
  };
  topology::LinkId best = graph.out(host, ports.front());
  for (const topology::PortId port : ports) {
    if (const topology::LinkId link = graph.out(host, port); later(best, link)) best = link;
  }
  return best;
}

}  // namespace loco::fabric
