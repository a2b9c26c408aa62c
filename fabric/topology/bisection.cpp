#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>

#include "fabric/topology/reports.hpp"

namespace loco::fabric::topology {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

/// Two arcs that are each other's reverse.
void connect(Network& network, std::size_t a, std::size_t b, std::int64_t forth, std::int64_t back) {
  const auto capacity = boost::get(boost::edge_capacity, network);
  const auto reverse = boost::get(boost::edge_reverse, network);
  const auto ab = boost::add_edge(a, b, network).first;
  const auto ba = boost::add_edge(b, a, network).first;
  capacity[ab] = forth;
  capacity[ba] = back;
  reverse[ab] = ba;
  reverse[ba] = ab;
}

}  // namespace

std::uint32_t cut_links(const Topology& topology, const std::vector<bool>& side) {
  const std::size_t source = topology.vertices();
  const std::size_t sink = source + 1;
  const std::int64_t all = topology.cables();
  Network network(sink + 1);
  for (LinkId l = 0; l < topology.links().size(); l += 2) {
    connect(network, topology.link(l).from, topology.link(l).to, 1, 1);
  }
  for (VertexId h = 0; h < topology.hosts(); ++h) {
    if (side.at(h)) connect(network, source, h, all, 0);
    if (!side.at(h)) connect(network, h, sink, all, 0);
  }
  return static_cast<std::uint32_t>(boost::edmonds_karp_max_flow(network, source, sink));
}

std::uint32_t bisection_links(const Topology& topology) {
  const std::uint32_t hosts = topology.hosts();
  std::vector<bool> side(hosts);
  const auto* torus = std::get_if<Torus>(&topology.parameters());
  if (torus == nullptr) {
    std::fill(side.begin(), side.begin() + hosts / 2, true);
    return cut_links(topology, side);
  }
  std::uint32_t least = topology.cables();
  std::uint32_t stride = torus->hosts_per_router;
  const bool halves = std::any_of(torus->dims.begin(), torus->dims.end(), [](std::uint32_t d) { return d % 2 == 0; });
  for (const std::uint32_t d : torus->dims) {
    if (d % 2 == 0 || !halves) {
      for (VertexId h = 0; h < hosts; ++h) side[h] = h / stride % d < d / 2;
      least = std::min(least, cut_links(topology, side));
    }
    stride *= d;
  }
  return least;
}

}  // namespace loco::fabric::topology
