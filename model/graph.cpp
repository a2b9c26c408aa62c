#include "model/graph.hpp"

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

}  // namespace loco::model
