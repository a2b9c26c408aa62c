#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "fabric/topology/topology.hpp"

namespace loco::fabric::topology {

namespace {

using Cables = std::vector<Cable>;

void lay(Cables& cables, const BackToBack&, const LinkSpec& link) { cables.push_back({0, 0, 1, 0, link}); }

void lay(Cables& cables, const Star& p, const LinkSpec& link) {
  for (std::uint32_t h = 0; h < p.nodes; ++h) cables.push_back({h, 0, p.nodes, h, link});
}

/// The rate at which a leaf's uplinks together carry 1/oversubscription of what its hosts can send.
sim::BitsPerSecond uplink_rate(const LeafSpine& p, sim::BitsPerSecond rate) {
  if (p.oversubscription == 0 || rate.value == 0) return rate;
  __extension__ using Wide = unsigned __int128;
  const Wide parts = Wide{p.spines} * p.oversubscription;
  return {static_cast<std::uint64_t>((Wide{rate.value} * p.hosts_per_leaf + parts - 1) / parts)};
}

void lay(Cables& cables, const LeafSpine& p, const LinkSpec& link) {
  const VertexId leaf0 = p.leaves * p.hosts_per_leaf;
  const VertexId spine0 = leaf0 + p.leaves;
  for (VertexId h = 0; h < leaf0; ++h) {
    cables.push_back({h, 0, leaf0 + h / p.hosts_per_leaf, h % p.hosts_per_leaf, link});
  }
  const LinkSpec up{uplink_rate(p, link.rate), link.delay};
  for (std::uint32_t l = 0; l < p.leaves; ++l) {
    for (std::uint32_t s = 0; s < p.spines; ++s) {
      cables.push_back({leaf0 + l, p.hosts_per_leaf + s, spine0 + s, l, up});
    }
  }
}

// Switches: edge switches pod by pod, aggregation switches pod by pod, cores. Aggregation switch i of every pod has
// the cores i*k/2 to (i+1)*k/2 - 1.
void lay(Cables& cables, const FatTree& p, const LinkSpec& link) {
  const std::uint32_t half = p.k / 2;
  const std::uint32_t hosts = half * half * p.k;
  const VertexId edge0 = hosts;
  const VertexId aggregation0 = edge0 + half * p.k;
  const VertexId core0 = aggregation0 + half * p.k;
  for (VertexId h = 0; h < hosts; ++h) cables.push_back({h, 0, edge0 + h / half, h % half, link});
  for (std::uint32_t pod = 0; pod < p.k; ++pod) {
    for (std::uint32_t e = 0; e < half; ++e) {
      for (std::uint32_t a = 0; a < half; ++a) {
        cables.push_back({edge0 + pod * half + e, half + a, aggregation0 + pod * half + a, e, link});
      }
    }
    for (std::uint32_t a = 0; a < half; ++a) {
      for (std::uint32_t c = 0; c < half; ++c) {
        cables.push_back({aggregation0 + pod * half + a, half + c, core0 + a * half + c, pod, link});
      }
    }
  }
}

/// The global ports of a group, numbered over its routers: how many groups further each one leads, and the port at
/// the far end. The same for every group, so that the graph looks alike from each. Ports go round all other groups
/// (offsets 1 to g-1) as often as there are enough; the rest take offsets d and g-d in pairs, from the nearest.
struct GlobalPort {
  std::uint32_t offset = 0;
  std::uint32_t peer_port = 0;
};

std::vector<GlobalPort> global_ports(const Dragonfly& p) {
  std::vector<GlobalPort> ports;
  if (p.groups < 2) return ports;
  const std::uint32_t others = p.groups - 1;
  const std::uint32_t count = p.routers_per_group * p.global_links_per_router;
  for (std::uint32_t round = 0; round + 1 <= count / others; ++round) {
    for (std::uint32_t d = 1; d <= others; ++d) ports.push_back({d, round * others + (p.groups - d) - 1});
  }
  std::uint32_t rest = count % others;
  if (rest % 2 == 1 && p.groups % 2 == 0) {
    ports.push_back({p.groups / 2, static_cast<std::uint32_t>(ports.size())});
    --rest;
  }
  for (std::uint32_t d = 1; rest >= 2; ++d, rest -= 2) {
    const auto next = static_cast<std::uint32_t>(ports.size());
    ports.push_back({d, next + 1});
    ports.push_back({p.groups - d, next});
  }
  return ports;
}

void lay(Cables& cables, const Dragonfly& p, const LinkSpec& link) {
  const std::uint32_t a = p.routers_per_group;
  const std::uint32_t h = p.global_links_per_router;
  const std::uint32_t hosts = p.groups * a * p.hosts_per_router;
  for (VertexId v = 0; v < hosts; ++v) {
    cables.push_back({v, 0, hosts + v / p.hosts_per_router, v % p.hosts_per_router, link});
  }
  for (std::uint32_t g = 0; g < p.groups; ++g) {
    for (std::uint32_t r = 0; r < a; ++r) {
      for (std::uint32_t s = r + 1; s < a; ++s) {
        const VertexId first = hosts + g * a;
        cables.push_back({first + r, p.hosts_per_router + s - 1, first + s, p.hosts_per_router + r, link});
      }
    }
  }
  const std::uint32_t global0 = p.hosts_per_router + a - 1;
  const std::vector<GlobalPort> ports = global_ports(p);
  for (std::uint32_t g = 0; g < p.groups; ++g) {
    for (std::uint32_t port = 0; port < ports.size(); ++port) {
      const std::uint32_t peer = (g + ports[port].offset) % p.groups;
      if (peer < g) continue;  // laid from the other end
      const std::uint32_t far = ports[port].peer_port;
      cables.push_back(
          {hosts + g * a + port / h, global0 + port % h, hosts + peer * a + far / h, global0 + far % h, link});
    }
  }
}

void lay_torus(Cables& cables, std::span<const std::uint32_t> dims, std::uint32_t hosts_per_router,
               const LinkSpec& link) {
  std::uint32_t routers = 1;
  for (const std::uint32_t d : dims) routers *= d;
  const std::uint32_t hosts = routers * hosts_per_router;
  for (VertexId h = 0; h < hosts; ++h) {
    cables.push_back({h, 0, hosts + h / hosts_per_router, h % hosts_per_router, link});
  }
  for (std::uint32_t r = 0; r < routers; ++r) {
    std::uint32_t stride = 1;
    PortId port = hosts_per_router;
    for (const std::uint32_t d : dims) {
      const std::uint32_t at = r / stride % d;
      const std::uint32_t next = r - at * stride + (at + 1) % d * stride;
      const PortId back = d == 2 ? port : port + 1;
      if (d > 2 || at == 0) cables.push_back({hosts + r, port, hosts + next, back, link});
      stride *= d;
      port = back + 1;
    }
  }
}

void lay(Cables& cables, const Torus& p, const LinkSpec& link) { lay_torus(cables, p.dims, p.hosts_per_router, link); }
void lay(Cables& cables, const Ring& p, const LinkSpec& link) { lay_torus(cables, std::span(&p.nodes, 1), 1, link); }

void lay(Cables& cables, const Rails& p, const LinkSpec& link) { lay(cables, leaf_spine_of(p), link); }

void lay(Cables& cables, const Custom& p, const LinkSpec& link) {
  std::vector<PortId> ports(std::size_t{p.hosts} + p.switches);
  for (const Edge& e : p.edges) {
    const LinkSpec spec{e.rate.value_or(link.rate), e.delay.value_or(link.delay)};
    const PortId a_port = ports[e.a]++;
    const PortId b_port = ports[e.b]++;
    cables.push_back({e.a, a_port, e.b, b_port, spec});
  }
}

/// The vertices that a packet from `source` can get to; hosts do not forward.
std::vector<bool> reach(const Topology& t, VertexId source) {
  std::vector<bool> seen(t.vertices());
  seen[source] = true;
  std::vector<VertexId> open = {source};
  while (!open.empty()) {
    const VertexId v = open.back();
    open.pop_back();
    if (t.is_host(v) && v != source) continue;
    for (const LinkId l : t.ports(v)) {
      const VertexId w = t.link(l).to;
      if (seen[w]) continue;
      seen[w] = true;
      open.push_back(w);
    }
  }
  return seen;
}

bool sees_all_hosts(const Topology& t, const std::vector<bool>& seen) {
  return std::all_of(seen.begin(), seen.begin() + t.hosts(), [](bool s) { return s; });
}

/// Every host must reach every other. A switch that reaches all of them is enough, and one of host 0's is such a
/// switch unless some pairs meet on different planes or on direct cables, which takes a search from each host.
void check_connected(const Topology& t) {
  for (const LinkId l : t.ports(0)) {
    const VertexId w = t.link(l).to;
    if (!t.is_host(w) && sees_all_hosts(t, reach(t, w))) return;
  }
  for (VertexId source = 0; source < t.hosts(); ++source) {
    const std::vector<bool> seen = reach(t, source);
    for (VertexId h = 0; h < t.hosts(); ++h) {
      if (seen[h]) continue;
      throw TopologyError({"edges", "a path through switches between any two hosts",
                           fmt::format("none from {} to {}", t.name(source), t.name(h))});
    }
  }
}

}  // namespace

Topology build(const Parameters& parameters, const LinkSpec& link) {
  if (auto problem = validate(parameters)) throw TopologyError(std::move(*problem));
  if (link.delay.ps < 0 || link.delay > kDelayMax) {
    throw TopologyError({"link.delay", "a delay from 0 to 1 s", fmt::format("{} ps", link.delay.ps)});
  }
  const Size size = size_of(parameters);
  Cables cables;
  cables.reserve(size.cables);
  std::visit([&](const auto& p) { lay(cables, p, link); }, parameters);
  Topology topology(parameters, static_cast<std::uint32_t>(size.hosts), static_cast<std::uint32_t>(size.switches),
                    cables);
  if (topology.kind() == Kind::custom) check_connected(topology);
  return topology;
}

}  // namespace loco::fabric::topology
