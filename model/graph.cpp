#include "model/graph.hpp"

#include <algorithm>

namespace loco::model {

Adjacency by_source(Order& order, const Poll& poll) {
  Adjacency a;
  a.begin.assign(order.points() + std::size_t{2}, 0);
  for (const Order::Edge& e : order.edges()) ++a.begin[e.from + std::size_t{2}];
  for (std::size_t i = 1; i < a.begin.size(); ++i) a.begin[i] += a.begin[i - 1];
  a.to.resize(order.edges().size());
  a.rule.resize(order.edges().size());
  for (std::size_t i = 0; i < order.edges().size(); ++i) {
    poll();
    const Order::Edge e = order.edges()[i];
    const std::uint32_t at = a.begin[e.from + std::size_t{1}]++;
    a.to[at] = e.to;
    a.rule[at] = order.rules()[i];
  }
  a.begin.pop_back();
  std::vector<Order::Edge>().swap(order.edges());
  std::vector<Rule>().swap(order.rules());
  return a;
}

std::vector<PointId> topological_order(const Adjacency& graph, const Poll& poll) {
  const std::size_t n = graph.begin.size() - 1;
  std::vector<std::uint32_t> indegree(n, 0);
  for (const PointId to : graph.to) ++indegree[to];
  std::vector<PointId> order;  // the part not yet walked is the queue
  order.reserve(n);
  for (PointId p = 0; p < n; ++p)
    if (indegree[p] == 0) order.push_back(p);
  for (std::size_t i = 0; i < order.size(); ++i) {
    poll();
    for (std::uint32_t e = graph.begin[order[i]]; e < graph.begin[order[i] + std::size_t{1}]; ++e)
      if (--indegree[graph.to[e]] == 0) order.push_back(graph.to[e]);
  }
  return order;
}

std::vector<std::uint32_t> strong_components(const Adjacency& graph, const Poll& poll) {
  struct Visit {
    PointId point;
    std::uint32_t edge;  // the next to be looked at
  };
  constexpr std::uint32_t kNone = 0xffffffffU;
  const std::size_t n = graph.begin.size() - 1;
  std::vector<std::uint32_t> component(n, kNone), number(n, kNone), lowest(n, kNone);
  std::vector<PointId> open;  // visited, of no component yet
  std::vector<Visit> path;
  std::uint32_t visited = 0, found = 0;
  const auto visit = [&](PointId p) {
    number[p] = lowest[p] = visited++;
    open.push_back(p);
    path.push_back({p, graph.begin[p]});
  };
  for (PointId root = 0; root < n; ++root) {
    if (number[root] == kNone) visit(root);
    while (!path.empty()) {
      poll();
      auto& [p, edge] = path.back();
      if (edge < graph.begin[p + std::size_t{1}]) {
        const PointId to = graph.to[edge++];
        if (number[to] == kNone)
          visit(to);
        else if (component[to] == kNone)
          lowest[p] = std::min(lowest[p], number[to]);
        continue;
      }
      const PointId done = p;
      path.pop_back();
      if (!path.empty()) lowest[path.back().point] = std::min(lowest[path.back().point], lowest[done]);
      if (lowest[done] != number[done]) continue;
      for (bool last = false; !last; open.pop_back()) {
        last = open.back() == done;
        component[open.back()] = found;
      }
      ++found;
    }
  }
  return component;
}

}  // namespace loco::model
