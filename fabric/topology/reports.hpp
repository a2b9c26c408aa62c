// Facts about a network and its routes, for reports, tests and `list`: no function here is meant for the event path.
//
// Lengths are links from host to host, both hosts' cables included. Loads are numbers of flows; doubles appear in
// reports only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology/routes.hpp"
#include "fabric/topology/topology.hpp"

namespace loco::fabric::topology {

struct Flow {
  VertexId source = 0;
  VertexId destination = 0;
  std::uint64_t label = 0;  ///< as for flow_hash()

  bool operator==(const Flow&) const = default;
};

/// The links that a flow takes. Adaptive and spray choose for each packet: theirs is one such path, chosen as ecmp
/// does with the label as the packet's number. Empty when source and destination are one, or there is no path.
[[nodiscard]] std::vector<LinkId> path(const Topology& topology, const Routes& routes, Routing routing,
                                       const Flow& flow);

/// Links on the way; 0 to itself or without a path.
[[nodiscard]] std::uint32_t hop_count(const Topology& topology, const Routes& routes, VertexId source,
                                      VertexId destination);

/// Number of different paths that the candidates allow; saturates.
[[nodiscard]] std::uint64_t path_count(const Topology& topology, const Routes& routes, VertexId source,
                                       VertexId destination);

/// The largest hop_count() of two hosts.
[[nodiscard]] std::uint32_t diameter(const Topology& topology, const Routes& routes);

/// Fewest cables whose removal parts the hosts marked true from the others (Boost.Graph's push-relabel maximum flow).
[[nodiscard]] std::uint32_t cut_links(const Topology& topology, const std::vector<bool>& side);

/// cut_links() between the halves of the hosts by number; on a torus the least over its even dimensions (all,
/// if none is even). For the kinds of
/// this library these are the bisections of the literature; for a custom graph it is an upper bound of it.
[[nodiscard]] std::uint32_t bisection_links(const Topology& topology);

/// Flows on each link; adaptive and spray are taken to share evenly at every switch.
[[nodiscard]] std::vector<double> link_loads(const Topology& topology, const Routes& routes, Routing routing,
                                             std::span<const Flow> flows);

/// Can packets that wait for each other form a circle when every link has one lane and nothing is dropped? (Dally and
/// Seitz: a cycle in the graph of links, an arc where a route goes on from one link to another.) Deterministic looks
/// at the ports it takes, the others at all candidates.
[[nodiscard]] bool has_cyclic_dependency(const Topology& topology, const Routes& routes, Routing routing);

/// Patterns. Host i sends to i + shift (modulo the number of hosts); a random permutation in which no host sends to
/// itself (Sattolo's: one cycle), from the seed; all others send to `receiver`.
[[nodiscard]] std::vector<Flow> shift_pattern(std::uint32_t hosts, std::uint32_t shift);
[[nodiscard]] std::vector<Flow> permutation_pattern(std::uint32_t hosts, std::uint64_t seed);
[[nodiscard]] std::vector<Flow> incast_pattern(std::uint32_t hosts, VertexId receiver);

}  // namespace loco::fabric::topology
