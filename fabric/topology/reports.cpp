#include "fabric/topology/reports.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "sim/rng.hpp"

namespace loco::fabric::topology {

namespace {

PortId choose(const Routes& routes, Routing routing, VertexId at, const Flow& flow, std::uint64_t hash) {
  return routing == Routing::deterministic ? routes.deterministic(at, flow.destination)
                                           : routes.ecmp(at, flow.destination, hash);
}

/// Calls `visit(vertex, amount, candidates)` for everything that `amount` at the source spreads to, in order of
/// distance from the source; `share(amount, n)` is what each of n candidates passes on, added up where paths join.
template <typename Amount, typename Share, typename Add, typename Visit>
void spread(const Topology& t, const Routes& routes, const Flow& flow, Amount amount, Share share, Add add,
            Visit visit) {
  std::map<VertexId, Amount> layer = {{flow.source, amount}};
  while (!layer.empty()) {
    std::map<VertexId, Amount> next;
    for (const auto& [v, here] : layer) {
      const auto ports = routes.candidates(v, flow.destination);
      visit(v, here, ports);
      for (const PortId p : ports) {
        const Amount part = share(here, ports.size());
        const auto [it, fresh] = next.try_emplace(t.link(t.out(v, p)).to, part);
        if (!fresh) it->second = add(it->second, part);
      }
    }
    layer = std::move(next);
  }
}

/// Hosts from which the longest routes start: one is enough where the graph looks alike from every host.
std::vector<VertexId> typical_sources(const Topology& t, const std::vector<VertexId>& all) {
  if (t.kind() == Kind::custom) return all;
  const auto* dragonfly = std::get_if<Dragonfly>(&t.parameters());
  if (dragonfly == nullptr) return {0};
  std::vector<VertexId> sources;
  for (std::uint32_t r = 0; r < dragonfly->routers_per_group; ++r) sources.push_back(r * dragonfly->hosts_per_router);
  return sources;
}

/// Two hosts of every switch, and every host with a choice of cables.
std::vector<VertexId> representatives(const Topology& t, const Routes& routes) {
  std::vector<VertexId> hosts;
  std::vector<int> seen(t.vertices());
  for (VertexId h = 0; h < t.hosts(); ++h) {
    const VertexId at = routes.attachment(h);
    if (at == Routes::kNone || seen[at]++ < 2) hosts.push_back(h);
  }
  return hosts;
}

}  // namespace

std::vector<LinkId> path(const Topology& topology, const Routes& routes, Routing routing, const Flow& flow) {
  const std::uint64_t hash = flow_hash(flow.source, flow.destination, flow.label);
  std::vector<LinkId> links;
  for (VertexId at = flow.source; !routes.candidates(at, flow.destination).empty();) {
    links.push_back(topology.out(at, choose(routes, routing, at, flow, hash)));
    at = topology.link(links.back()).to;
  }
  return links;
}

std::uint32_t hop_count(const Topology& topology, const Routes& routes, VertexId source, VertexId destination) {
  std::uint32_t hops = 0;
  VertexId at = source;
  for (auto ports = routes.candidates(at, destination); !ports.empty(); ports = routes.candidates(at, destination)) {
    at = topology.link(topology.out(at, ports.front())).to;
    ++hops;
  }
  return hops;
}

std::uint64_t path_count(const Topology& topology, const Routes& routes, VertexId source, VertexId destination) {
  std::uint64_t paths = 0;
  spread(
      topology, routes, {source, destination, 0}, std::uint64_t{1},
      [](std::uint64_t here, std::size_t) { return here; },
      [](std::uint64_t a, std::uint64_t b) {
        return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
      },
      [&](VertexId v, std::uint64_t here, std::span<const PortId>) {
        // By delay, paths of several lengths arrive, in several layers.
        if (v == destination) paths += here;
      });
  return paths;
}

std::uint32_t diameter(const Topology& topology, const Routes& routes) {
  const std::vector<VertexId> hosts = representatives(topology, routes);
  std::uint32_t longest = 0;
  for (const VertexId source : typical_sources(topology, hosts)) {
    for (const VertexId destination : hosts) {
      longest = std::max(longest, hop_count(topology, routes, source, destination));
    }
  }
  return longest;
}

std::vector<double> link_loads(const Topology& topology, const Routes& routes, Routing routing,
                               std::span<const Flow> flows) {
  std::vector<double> loads(topology.links().size());
  for (const Flow& flow : flows) {
    if (routing == Routing::deterministic || routing == Routing::ecmp) {
      for (const LinkId l : path(topology, routes, routing, flow)) loads[l] += 1;
      continue;
    }
    spread(
        topology, routes, flow, 1.0, [](double here, std::size_t n) { return here / static_cast<double>(n); },
        [](double a, double b) { return a + b; },
        [&](VertexId v, double here, std::span<const PortId> ports) {
          for (const PortId p : ports) loads[topology.out(v, p)] += here / static_cast<double>(ports.size());
        });
  }
  return loads;
}

namespace {
/// Links by which packets for a destination may leave a vertex.
std::vector<LinkId> links_towards(const Topology& topology, const Routes& routes, Routing routing, VertexId at,
                                  VertexId destination) {
  const auto ports = routes.candidates(at, destination);
  if (routing == Routing::deterministic && !ports.empty()) {
    return {topology.out(at, routes.deterministic(at, destination))};
  }
  std::vector<LinkId> links;
  for (const PortId p : ports) links.push_back(topology.out(at, p));
  return links;
}

/// Adds which link waits for which on the way to a destination: a packet on the first may go on by the second.
void add_dependencies(const Topology& topology, const Routes& routes, Routing routing, VertexId destination,
                      std::vector<std::pair<LinkId, LinkId>>& arcs) {
  std::vector<bool> seen(topology.links().size());
  std::vector<LinkId> open;
  const auto enter = [&](LinkId l) {
    if (!seen[l]) open.push_back(l);
    seen[l] = true;
  };
  for (VertexId source = 0; source < topology.hosts(); ++source) {
    for (const LinkId l : links_towards(topology, routes, routing, source, destination)) enter(l);
  }
  while (!open.empty()) {
    const LinkId in = open.back();
    open.pop_back();
    for (const LinkId out : links_towards(topology, routes, routing, topology.link(in).to, destination)) {
      arcs.emplace_back(in, out);
      enter(out);
    }
  }
}
}  // namespace

bool has_cyclic_dependency(const Topology& topology, const Routes& routes, Routing routing) {
  std::vector<std::pair<LinkId, LinkId>> arcs;
  for (VertexId destination = 0; destination < topology.hosts(); ++destination) {
    add_dependencies(topology, routes, routing, destination, arcs);
  }
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  const boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(arcs.begin(), arcs.end(),
                                                                                topology.links().size());
  // No link follows itself, so the graph has a cycle exactly when some component has two links.
  std::vector<int> component(topology.links().size());
  const int components = boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  return static_cast<std::size_t>(components) < topology.links().size();
}

std::vector<Flow> shift_pattern(std::uint32_t hosts, std::uint32_t shift) {
  std::vector<Flow> flows;
  for (VertexId h = 0; h < hosts; ++h) {
    const auto to = static_cast<VertexId>((std::uint64_t{h} + shift) % hosts);
    if (to != h) flows.push_back({h, to, 0});
  }
  return flows;
}

std::vector<Flow> permutation_pattern(std::uint32_t hosts, std::uint64_t seed) {
  std::vector<VertexId> to(hosts);
  std::iota(to.begin(), to.end(), VertexId{0});
  sim::Stream random(seed, "topology.permutation");
  for (std::uint32_t i = hosts; i > 1; --i) std::swap(to[i - 1], to[random.below(i - 1)]);
  std::vector<Flow> flows;
  for (VertexId h = 0; h < hosts && hosts > 1; ++h) flows.push_back({h, to[h], 0});
  return flows;
}

std::vector<Flow> incast_pattern(std::uint32_t hosts, VertexId receiver) {
  std::vector<Flow> flows;
  for (VertexId h = 0; h < hosts; ++h) {
    if (h != receiver) flows.push_back({h, receiver, 0});
  }
  return flows;
}

}  // namespace loco::fabric::topology
