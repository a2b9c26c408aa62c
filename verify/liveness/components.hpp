// Runs of a Graph that break a liveness property: fair cycles, found by strongly connected components, and ends.
//
// A component has a fair run through all of it when every process steps in it or cannot step in some state of it, and
// of every class of operations one goes on in it or some state has none. Since nothing that is enabled is ever disabled
// by another, this is all there is to fairness (docs/verify.md). Where operations stand for many, what takes one of
// many and leaves as many can go on only while others are added: such steps are taken out of a component that adds
// none, and what is left is looked at again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "verify/liveness/check.hpp"
#include "verify/liveness/graph.hpp"

namespace loco::verify::liveness {

/// A step of the graph: an edge of a state.
struct GraphStep {
  Index state = 0;
  std::size_t edge = 0;
};

struct Finding {
  Kind kind = Kind::kLivelock;
  std::vector<GraphStep> stem;
  std::vector<GraphStep> loop;  ///< empty: the run is over
};

class Search {
 public:
  Search(Graph& graph, const LivenessProperty& property, Fairness fairness);

  /// Whether each state of the graph cannot reach what is asked for, whatever is done; of states that are not
  /// expanded, or held back, nothing is known, and they count as if they could.
  [[nodiscard]] std::vector<bool> doomed();
  /// The run to show: one that is over, else one that cannot be helped (in states that are `doomed`, more of which may
  /// be known than the graph tells), else any.
  [[nodiscard]] std::optional<Finding> find(const std::vector<bool>& doomed);

 private:
  using Component = std::vector<Index>;

  void evaluate();
  void find_region();
  [[nodiscard]] bool labelled(Index state, const GraphEdge& edge) const;
  [[nodiscard]] bool allowed(Index state, const GraphEdge& edge) const;
  template <typename In, typename Edge>
  [[nodiscard]] std::vector<Component> components(const std::vector<Index>& among, In in, Edge edge);
  [[nodiscard]] std::optional<Component> fair(std::vector<Component> candidates, std::vector<bool>& removed);
  [[nodiscard]] bool is_fair(const Component& component, const std::vector<bool>& removed);
  [[nodiscard]] Finding lasso(const Component& component, const std::vector<bool>& removed);
  [[nodiscard]] std::vector<GraphStep> way_to(Index state) const;
  [[nodiscard]] std::size_t edge_to(Index from, Index to) const;
  [[nodiscard]] std::size_t edge_number(Index state, std::size_t edge) const { return first_edge_[state] + edge; }

  Graph& graph_;
  const LivenessProperty& property_;
  Fairness fairness_;
  std::vector<bool> then_;                ///< by state: the awaited event is there; of kProgress: all have ended
  std::vector<bool> when_;                ///< of kLeadsTo
  std::vector<std::vector<bool>> label_;  ///< of kProgress, by process and location
  std::vector<std::uint32_t> at_;         ///< of kProgress, by state and process
  std::vector<bool> region_;              ///< by state: the awaited event is still to come
  std::vector<Index> region_parent_;      ///< within the region; kNone: it begins there
  std::vector<std::uint64_t> first_edge_;
  std::vector<Index> component_of_;
  std::vector<Index> number_, low_;  ///< of components()
  std::vector<bool> on_stack_;
};

}  // namespace loco::verify::liveness
