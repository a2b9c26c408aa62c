#include "fabric/topology/routes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fabric/topology/routes_builder.hpp"
#include "sim/rng.hpp"

namespace loco::fabric::topology {

// --- Looking up ------------------------------------------------------------------------------------------------------

std::uint64_t flow_hash(VertexId source, VertexId destination, std::uint64_t label) {
  std::uint64_t state = (std::uint64_t{source} << 32U) | destination;
  state = sim::splitmix64(state) ^ label;
  return sim::splitmix64(state);
}

std::size_t Routes::torus_entry(VertexId at, VertexId destination) const {
  const std::size_t n = dims_.size();
  const std::uint16_t* from = &coordinates_[(at - hosts_) * n];
  const std::uint16_t* to = &coordinates_[(attachment_[destination] - hosts_) * n];
  std::size_t entry = 0;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t displacement = to[i] >= from[i] ? to[i] - from[i] : to[i] + dims_[i] - from[i];
    entry += displacement * stride;
    stride *= dims_[i];
  }
  return entry;
}

std::size_t Routes::entry(VertexId at, VertexId destination) const {
  switch (scheme_) {
    case Scheme::table:
      return row_[at] * columns_ + column_[destination];
    case Scheme::torus:
      return torus_entry(at, destination);
    case Scheme::dragonfly: {
      const std::uint32_t from = at - hosts_;
      const std::uint32_t to = attachment_[destination] - hosts_;
      const std::uint32_t away = (to / routers_per_group_ + groups_ - from / routers_per_group_) % groups_;
      return (std::size_t{from % routers_per_group_} * groups_ + away) * routers_per_group_ + to % routers_per_group_;
    }
  }
  return 0;
}

/// From a host with one cable.
Routes::PortSet Routes::injection(const std::vector<std::uint32_t>& table, VertexId host, VertexId destination) const {
  if (failures_ && find(table, attachment_[host], destination).count == 0) return {};
  return {injection_[host], 1};
}

inline Routes::PortSet Routes::find(const std::vector<std::uint32_t>& table, VertexId at, VertexId destination) const {
  if (at == destination) return {};
  if (at < hosts_ && attachment_[at] != kNone) return injection(table, at, destination);
  if (attachment_[destination] == at) return {delivery_[destination], 1};
  if (scheme_ == Scheme::table) return sets_[table[row_[at] * columns_ + column_[destination]]];
  return sets_[table[entry(at, destination)]];
}

std::span<const PortId> Routes::candidates(VertexId at, VertexId destination) const {
  const PortSet set = find(table_, at, destination);
  return std::span(ports_).subspan(set.begin, set.count);
}

PortId Routes::deterministic(VertexId at, VertexId destination) const {
  const PortSet set = find(ordered_.empty() ? table_ : ordered_, at, destination);
  if (set.count == 1) return ports_[set.begin];
  const std::uint32_t spread = divisor_.empty() ? destination : destination / divisor_[at];
  return ports_[set.begin + spread % set.count];
}

PortId Routes::ecmp(VertexId at, VertexId destination, std::uint64_t flow) const {
  const PortSet set = find(table_, at, destination);
  if (set.count == 1) return ports_[set.begin];
  std::uint64_t state = at;
  state = sim::splitmix64(state) ^ flow;
  return ports_[set.begin + static_cast<std::size_t>(sim::splitmix64_below(state, set.count))];
}

std::size_t Routes::memory_bytes() const {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return sizeof(*this) + bytes(sets_) + bytes(ports_) + bytes(table_) + bytes(ordered_) + bytes(attachment_) +
         bytes(delivery_) + bytes(injection_) + bytes(row_) + bytes(column_) + bytes(divisor_) + bytes(dims_) +
         bytes(coordinates_);
}

// --- Building from a shape ------------------------------------------------------------------------------------------

RoutesBuilder::RoutesBuilder(const Topology& topology, std::vector<bool> failed)
    : topology_(topology), failed_(std::move(failed)) {
  const std::uint32_t hosts = topology.hosts();
  r_.hosts_ = hosts;
  r_.attachment_.assign(hosts, Routes::kNone);
  r_.delivery_.assign(hosts, 0);
  r_.injection_.assign(hosts, 0);
  r_.column_.assign(hosts, 0);
  r_.row_.assign(topology.vertices(), Routes::kNone);
  std::size_t ports_max = 1;
  std::uint32_t row = 0;
  for (VertexId v = 0; v < topology.vertices(); ++v) {
    const auto ports = topology.ports(v);
    ports_max = std::max(ports_max, ports.size());
    if (topology.is_host(v) && std::count_if(ports.begin(), ports.end(), [&](LinkId l) { return up(l); }) == 1) {
      const LinkId l = *std::find_if(ports.begin(), ports.end(), [&](LinkId id) { return up(id); });
      const Link& link = topology.link(l);
      if (!topology.is_host(link.to)) {
        r_.attachment_[v] = link.to;
        r_.delivery_[v] = link.to_port;
        r_.injection_[v] = link.from_port;
        continue;
      }
    }
    r_.row_[v] = row++;
  }
  r_.failures_ = std::find(failed_.begin(), failed_.end(), true) != failed_.end();
  r_.ports_.resize(ports_max);
  std::iota(r_.ports_.begin(), r_.ports_.end(), PortId{0});
}

std::uint32_t RoutesBuilder::intern(std::vector<PortId> ports) {
  const auto next = static_cast<std::uint32_t>(r_.sets_.size());
  const auto [it, fresh] = known_.try_emplace(std::move(ports), next);
  if (!fresh) return it->second;
  const std::vector<PortId>& set = it->first;
  const auto count = static_cast<std::uint32_t>(set.size());
  if (set.empty()) {
    r_.sets_.push_back({0, 0});
  } else if (set.back() - set.front() + 1 == count) {
    r_.sets_.push_back({set.front(), count});
  } else {
    r_.sets_.push_back({static_cast<std::uint32_t>(r_.ports_.size()), count});
    r_.ports_.insert(r_.ports_.end(), set.begin(), set.end());
  }
  return next;
}

std::uint32_t RoutesBuilder::range(PortId first, std::uint32_t count) {
  std::vector<PortId> ports(count);
  std::iota(ports.begin(), ports.end(), first);
  return intern(std::move(ports));
}

void RoutesBuilder::rows(std::size_t rows, std::size_t columns) {
  if (columns != 0 && rows > Routes::kEntriesMax / columns) {
    throw TopologyError({"",
                         "at most " + std::to_string(Routes::kEntriesMax) +
                             " pairs of a switch and a switch with hosts, for the routing table",
                         std::to_string(rows) + " times " + std::to_string(columns)});
  }
  r_.columns_ = columns;
  r_.table_.assign(rows * columns, 0);
}

void RoutesBuilder::set_columns_by_switch(VertexId first, std::uint32_t switches) {
  for (VertexId h = 0; h < r_.hosts_; ++h) r_.column_[h] = r_.attachment_[h] - first;
  r_.columns_ = switches;
}

// One row for all leaves: up, to any spine (a leaf's own hosts are found before the table). One for all spines.
void RoutesBuilder::leaf_spine(const LeafSpine& p) {
  const VertexId leaf0 = topology_.hosts();
  rows(2, p.leaves);
  set_columns_by_switch(leaf0, p.leaves);
  const std::uint32_t up_ports = range(p.hosts_per_leaf, p.spines);
  for (std::uint32_t leaf = 0; leaf < p.leaves; ++leaf) {
    r_.table_[leaf] = up_ports;
    r_.table_[r_.columns_ + leaf] = range(leaf, 1);
    r_.row_[leaf0 + leaf] = 0;
  }
  for (std::uint32_t s = 0; s < p.spines; ++s) r_.row_[leaf0 + p.leaves + s] = 1;
}

// Row 0: edge switches, up. Row 1 + pod: its aggregation switches, down inside the pod, else up. Row 1 + k: cores.
void RoutesBuilder::fat_tree(const FatTree& p) {
  const std::uint32_t half = p.k / 2;
  const std::uint32_t edges = half * p.k;
  const VertexId edge0 = topology_.hosts();
  rows(p.k + 2, edges);
  set_columns_by_switch(edge0, edges);
  r_.divisor_.assign(topology_.vertices(), 1);
  const std::uint32_t up_ports = range(half, half);
  std::fill(r_.table_.begin(), r_.table_.end(), up_ports);
  for (std::uint32_t e = 0; e < edges; ++e) {
    const std::uint32_t pod = e / half;
    r_.table_[(1 + pod) * r_.columns_ + e] = range(e % half, 1);
    r_.table_[(1 + p.k) * r_.columns_ + e] = range(pod, 1);
    r_.row_[edge0 + e] = 0;
    r_.row_[edge0 + edges + e] = 1 + pod;  // as many aggregation as edge switches
    r_.divisor_[edge0 + edges + e] = half;
  }
  for (VertexId core = edge0 + 2 * edges; core < topology_.vertices(); ++core) r_.row_[core] = 1 + p.k;
}

void RoutesBuilder::torus(std::span<const std::uint32_t> dims, std::uint32_t hosts_per_router) {
  r_.scheme_ = Routes::Scheme::torus;
  r_.dims_.assign(dims.begin(), dims.end());
  const std::uint32_t routers = topology_.switches();
  r_.coordinates_.reserve(routers * dims.size());
  r_.table_.reserve(routers);
  r_.ordered_.reserve(routers);
  // Router r's coordinates are also displacement r: the two tables are filled side by side.
  for (std::uint32_t r = 0; r < routers; ++r) {
    std::vector<PortId> minimal;
    std::vector<PortId> first;
    PortId port = hosts_per_router;
    std::uint32_t rest = r;
    for (const std::uint32_t d : dims) {
      const std::uint32_t x = rest % d;
      rest /= d;
      r_.coordinates_.push_back(static_cast<std::uint16_t>(x));
      const std::size_t before = minimal.size();
      if (x != 0 && 2 * x <= d) minimal.push_back(port);
      if (x != 0 && 2 * x >= d && d > 2) minimal.push_back(port + 1);
      if (before == 0) first = minimal;
      port += d > 2 ? 2 : 1;
    }
    r_.table_.push_back(intern(std::move(minimal)));
    r_.ordered_.push_back(intern(std::move(first)));
  }
}

namespace {
/// A global link out of group 0: the router that it leaves by one of its ports, and the router of the far group, by
/// their numbers in their groups.
struct GlobalLink {
  std::uint32_t router;
  PortId port;
  std::uint32_t far_router;
};

/// The first ports of the shortest paths from a router to one of another group, which some global links lead to. A path
/// is a global link, with a local one in front of it and behind it where its ends are other routers. `local`: the port
/// towards a router of the own group.
template <typename Local>
std::vector<PortId> shortest(const std::vector<GlobalLink>& globals, std::uint32_t from, std::uint32_t to,
                             const Local& local) {
  std::vector<PortId> best;
  int best_links = 4;
  for (const GlobalLink& g : globals) {
    const int links = (g.router != from ? 1 : 0) + 1 + (g.far_router != to ? 1 : 0);
    if (links < best_links) best.clear();
    best_links = std::min(best_links, links);
    if (links == best_links) best.push_back(g.router == from ? g.port : local(from, g.router));
  }
  std::sort(best.begin(), best.end());
  best.erase(std::unique(best.begin(), best.end()), best.end());
  return best;
}
}  // namespace

void RoutesBuilder::dragonfly(const Dragonfly& p) {
  const std::uint32_t a = p.routers_per_group;
  const PortId local0 = p.hosts_per_router;
  const VertexId first = topology_.hosts();
  const auto local = [&](std::uint32_t from, std::uint32_t to) { return local0 + to - (to > from ? 1 : 0); };
  r_.scheme_ = Routes::Scheme::dragonfly;
  r_.groups_ = p.groups;
  r_.routers_per_group_ = a;
  r_.table_.assign(std::size_t{a} * p.groups * a, intern({}));

  std::vector<std::vector<GlobalLink>> globals(p.groups);  // of group 0, by distance of the other group
  for (std::uint32_t r = 0; r < a; ++r) {
    const auto ports = topology_.ports(first + r);
    for (PortId port = local0 + a - 1; port < ports.size(); ++port) {
      const std::uint32_t far = topology_.link(ports[port]).to - first;
      globals[far / a].push_back({r, port, far % a});
    }
  }
  for (std::uint32_t from = 0; from < a; ++from) {
    for (std::uint32_t to = 0; to < a; ++to) {
      if (from != to) r_.table_[std::size_t{from} * p.groups * a + to] = range(local(from, to), 1);
      for (std::uint32_t away = 1; away < p.groups; ++away) {
        r_.table_[(std::size_t{from} * p.groups + away) * a + to] = intern(shortest(globals[away], from, to, local));
      }
    }
  }
}

Routes RoutesBuilder::finish() && { return std::move(r_); }

Routes::Routes(const Topology& topology) {
  RoutesBuilder builder(topology, std::vector<bool>(topology.cables()));
  struct Visitor {
    RoutesBuilder& b;
    void operator()(const BackToBack&) const { b.search(Metric::hops); }
    void operator()(const Star&) const {}  // every destination hangs on the switch
    void operator()(const LeafSpine& p) const { b.leaf_spine(p); }
    void operator()(const FatTree& p) const { b.fat_tree(p); }
    void operator()(const Dragonfly& p) const { b.dragonfly(p); }
    void operator()(const Torus& p) const { b.torus(p.dims, p.hosts_per_router); }
    void operator()(const Ring& p) const { b.torus(std::span(&p.nodes, 1), 1); }
    void operator()(const Rails& p) const { b.leaf_spine(leaf_spine_of(p)); }
    void operator()(const Custom& p) const { b.search(p.metric); }
  };
  std::visit(Visitor{builder}, topology.parameters());
  *this = std::move(builder).finish();
}

Routes Routes::search(const Topology& topology, std::span<const CableId> failed) {
  std::vector<bool> down(topology.cables());
  for (const CableId c : failed) down.at(c) = true;
  RoutesBuilder builder(topology, std::move(down));
  const auto* custom = std::get_if<Custom>(&topology.parameters());
  builder.search(custom != nullptr ? custom->metric : Metric::hops);
  return std::move(builder).finish();
}

}  // namespace loco::fabric::topology
