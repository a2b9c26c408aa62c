// Routes by search, on any graph: shortest-path trees from every destination, by Boost.Graph.
#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "fabric/topology/routes_builder.hpp"

namespace loco::fabric::topology {

namespace {

constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();

struct Cost {
  std::uint64_t cost = 0;
};
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Cost>;

/// Paths may end at a host, not pass through it: the only host whose links are followed is the root.
struct Forwards {
  const Graph* graph = nullptr;
  const std::vector<bool>* host = nullptr;
  std::size_t root = 0;

  template <typename EdgeDescriptor>
  bool operator()(const EdgeDescriptor& e) const {
    const auto from = boost::source(e, *graph);
    return from == root || !(*host)[from];
  }
};

std::uint64_t cost_of(const Link& link, Metric metric) {
  return metric == Metric::hops ? 1 : static_cast<std::uint64_t>(link.spec.delay.ps) + 1;
}

void distances(const Graph& graph, const std::vector<bool>& host, std::size_t root, Metric metric,
               std::vector<std::uint64_t>& distance) {
  const boost::filtered_graph<Graph, Forwards> forwarding(graph, Forwards{&graph, &host, root});
  const auto map = boost::make_iterator_property_map(distance.begin(), boost::get(boost::vertex_index, graph));
  std::fill(distance.begin(), distance.end(), kFar);
  distance[root] = 0;
  if (metric == Metric::hops) {
    boost::breadth_first_search(
        forwarding, root, boost::visitor(boost::make_bfs_visitor(boost::record_distances(map, boost::on_tree_edge()))));
  } else {
    boost::dijkstra_shortest_paths(forwarding, root,
                                   boost::weight_map(boost::get(&Cost::cost, graph)).distance_map(map));
  }
}

}  // namespace

/// Columns: one for all the hosts of a switch, one for each host with a choice. Returns where each column leads.
std::vector<VertexId> RoutesBuilder::assign_columns() {
  std::vector<VertexId> roots;
  std::map<VertexId, std::uint32_t> column_of_root;
  for (VertexId h = 0; h < r_.hosts_; ++h) {
    const VertexId root = r_.attachment_[h] != Routes::kNone ? r_.attachment_[h] : h;
    const auto [it, fresh] = column_of_root.try_emplace(root, static_cast<std::uint32_t>(roots.size()));
    if (fresh) roots.push_back(root);
    r_.column_[h] = it->second;
  }
  return roots;
}

void RoutesBuilder::fill_column(std::size_t column, VertexId root, Metric metric,
                                const std::vector<std::uint64_t>& distance) {
  for (VertexId v = 0; v < topology_.vertices(); ++v) {
    if (!has_row(v) || v == root || distance[r_.row_[v]] == kFar) continue;
    std::vector<PortId> closer;
    for (const LinkId l : topology_.ports(v)) {
      const Link& link = topology_.link(l);
      if (!up(l) || !has_row(link.to) || (topology_.is_host(link.to) && link.to != root)) continue;
      const std::uint64_t rest = distance[r_.row_[link.to]];
      if (rest != kFar && rest + cost_of(link, metric) == distance[r_.row_[v]]) closer.push_back(link.from_port);
    }
    r_.table_[r_.row_[v] * r_.columns_ + column] = intern(std::move(closer));
  }
}

void RoutesBuilder::search(Metric metric) {
  std::vector<bool> host;  // by row
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<Cost> costs;
  for (VertexId v = 0; v < topology_.vertices(); ++v) {
    if (!has_row(v)) continue;
    host.push_back(topology_.is_host(v));
    for (const LinkId l : topology_.ports(v)) {
      const Link& link = topology_.link(l);
      if (!up(l) || !has_row(link.to)) continue;
      edges.emplace_back(r_.row_[v], r_.row_[link.to]);
      costs.push_back({cost_of(link, metric)});
    }
  }
  const std::vector<VertexId> roots = assign_columns();
  rows(host.size(), roots.size());
  std::fill(r_.table_.begin(), r_.table_.end(), intern({}));
  const Graph graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), costs.begin(), host.size());
  std::vector<std::uint64_t> distance(host.size());
  for (std::size_t column = 0; column < roots.size(); ++column) {
    // Both directions of a cable cost the same: distances from the destination are distances to it.
    distances(graph, host, r_.row_[roots[column]], metric, distance);
    fill_column(column, roots[column], metric, distance);
  }
  set_divisors();
}

/// D-mod-k for any graph: a vertex divides by the number of choices on the levels between it and the nearest hosts,
/// a level's number being the largest of its vertices'. In a fat tree this is the published formula.
void RoutesBuilder::set_divisors() {
  std::vector<std::uint32_t> level(topology_.vertices(), Routes::kNone);
  std::deque<VertexId> open;
  for (VertexId h = 0; h < r_.hosts_; ++h) {
    const VertexId v = has_row(h) ? h : r_.attachment_[h];
    if (std::exchange(level[v], 0) != 0) open.push_back(v);
  }
  std::vector<std::uint64_t> choices;  // by level
  while (!open.empty()) {
    const VertexId v = open.front();
    open.pop_front();
    choices.resize(std::max<std::size_t>(choices.size(), level[v] + 1), 1);
    for (std::size_t column = 0; column < r_.columns_; ++column) {
      const std::uint64_t count = r_.sets_[r_.table_[r_.row_[v] * r_.columns_ + column]].count;
      choices[level[v]] = std::max(choices[level[v]], count);
    }
    for (const LinkId l : topology_.ports(v)) {
      const VertexId w = topology_.link(l).to;
      if (!up(l) || !has_row(w) || level[w] != Routes::kNone) continue;
      level[w] = level[v] + 1;
      open.push_back(w);
    }
  }
  r_.divisor_.assign(topology_.vertices(), 1);
  for (VertexId v = 0; v < topology_.vertices(); ++v) {
    std::uint64_t divisor = 1;
    for (std::uint32_t l = 0; level[v] != Routes::kNone && l < level[v] && divisor <= r_.hosts_; ++l) {
      divisor *= choices[l];
    }
    // Beyond the number of hosts, every quotient is 0.
    r_.divisor_[v] = static_cast<std::uint32_t>(std::min<std::uint64_t>(divisor, std::uint64_t{r_.hosts_} + 1));
  }
}

}  // namespace loco::fabric::topology
