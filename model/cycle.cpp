#include "model/cycle.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "model/graph.hpp"

namespace loco::model {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxSearchSteps = 30'000'000;  // edges looked at, over all searches

/// Breadth-first searches that share their working memory.
class Search {
 public:
  Search(const Order& order, const Adjacency& graph, const std::vector<std::uint32_t>& component, const Poll& poll)
      : poll_(poll),
        order_(order),
        graph_(graph),
        component_(component),
        distance_(graph.begin.size() - 1, kUnseen),
        via_(distance_.size()),
        from_(distance_.size()) {}

  /// Length of the shortest path within the component of both, less than `limit`; kUnseen when there is none.
  std::uint32_t run(PointId source, PointId target, std::uint32_t limit) {
    for (const PointId p : seen_) distance_[p] = kUnseen;
    seen_.clear();
    std::deque<std::pair<PointId, std::uint32_t>> queue;
    reach(source, 0);
    queue.emplace_back(source, 0);
    while (!queue.empty()) {
      poll_();
      const auto [p, d] = queue.front();
      queue.pop_front();
      if (p == target) return d;
      if (d != distance_[p]) continue;
      for (std::uint32_t e = graph_.begin[p]; e < graph_.begin[p + 1]; ++e) {
        ++steps_;
        const PointId to = graph_.to[e];
        const std::uint32_t cost = weight(to, graph_.rule[e]);
        if (component_[to] != component_[source] || d + cost >= std::min(distance_[to], limit)) continue;
        reach(to, d + cost);
        via_[to] = e;
        from_[to] = p;
        cost == 0 ? queue.emplace_front(to, d) : queue.emplace_back(to, d + cost);
      }
    }
    return kUnseen;
  }

  /// The path found by the last run.
  [[nodiscard]] std::vector<CycleEdge> path(PointId source, PointId target) const {
    std::vector<CycleEdge> out;
    for (PointId p = target; p != source; p = from_[p]) out.push_back({from_[p], p, graph_.rule[via_[p]]});
    std::reverse(out.begin(), out.end());
    return out;
  }

  /// The length of an edge in the search. Runs of program order or mo are shortened to one edge afterwards, and a chain
  /// point is no event, so these are free.
  [[nodiscard]] std::uint32_t weight(PointId to, Rule rule) const {
    const bool free = rule == Rule::ppo || rule == Rule::ippo || rule == Rule::mo || rule == Rule::starts;
    return free || order_.is_chain(to) ? 0 : 1;
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  void reach(PointId p, std::uint32_t d) {
    if (distance_[p] == kUnseen) seen_.push_back(p);
    distance_[p] = d;
  }

  const Poll& poll_;
  const Order& order_;
  const Adjacency& graph_;
  const std::vector<std::uint32_t>& component_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> via_;
  std::vector<PointId> from_;
  std::vector<PointId> seen_;
  std::uint64_t steps_ = 0;
};

/// Replaces each path through chain points by one edge between the events at its ends. `path` does not begin at a chain
/// point.
std::vector<CycleEdge> without_chains(const Order& order, const std::vector<CycleEdge>& path) {
  std::vector<CycleEdge> out;
  for (const CycleEdge& e : path) {
    if (!out.empty() && order.is_chain(out.back().to)) {
      out.back().to = e.to;
      out.back().rule = e.rule;
    } else {
      out.push_back(e);
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<CycleEdge>> find_cycle(Order& order, const Poll& poll) {
  std::vector<CycleEdge> closing;  // every cycle has one of these
  for (const std::uint32_t e : order.backward_edges())
    closing.push_back({order.edges()[e].from, order.edges()[e].to, order.rules()[e]});
  const Adjacency graph = by_source(order, poll);
  if (topological_order(graph, poll).size() == order.points()) return std::nullopt;
  const std::vector<std::uint32_t> component = strong_components(graph, poll);
  Search search(order, graph, component, poll);
  std::vector<CycleEdge> best;
  std::uint32_t best_length = kUnseen;
  for (const CycleEdge& e : closing) {
    if (component[e.from] != component[e.to]) continue;  // on no cycle
    if (!best.empty() && search.steps() > kMaxSearchSteps) break;
    const std::uint32_t own = search.weight(e.to, e.rule);
    if (best_length <= own) continue;
    const std::uint32_t length = search.run(e.to, e.from, best_length - own);
    if (length == kUnseen) continue;
    best_length = length + own;
    best = search.path(e.to, e.from);
    best.push_back(e);
  }
  const auto real = std::find_if(best.begin(), best.end(), [&](const CycleEdge& e) { return !order.is_chain(e.from); });
  std::rotate(best.begin(), real, best.end());
  return without_chains(order, best);
}

std::vector<CycleEdge> shortest_path(const Order& order, const Adjacency& graph, PointId from, PointId to,
                                     const Poll& poll) {
  const std::vector<std::uint32_t> everything(graph.begin.size() - 1, 0);  // one component, in which to search
  Search search(order, graph, everything, poll);
  if (search.run(from, to, kUnseen) == kUnseen) return {};
  return without_chains(order, search.path(from, to));
}

}  // namespace loco::model
