// One growing graph whose acyclicity is consistency: the search's incremental form of `consistent`.
//
// Nodes are the finishes of all subevents and, for those that start earlier (Axioms::started), their starts; each
// start has an edge to its finish. Pairs of ib join starts, pairs of ppo and so join finishes; an instantaneous
// subevent is one node, both start and finish. Then
//     ib irreflexive and ppo U so acyclic, with [Inst];ib inside so     iff     the graph is acyclic.
// For: a path of ib edges from an instantaneous s to t is a pair of [Inst];ib, and reaches finish(t) over start(t).
// Conversely a cycle either stays among ib edges (ib is reflexive), or splits into so edges between finishes and
// maximal runs of ib edges; such a run was entered from a finish, so it begins at an instantaneous node, and is a
// pair of [Inst];ib. Edges are only ever added, so a cycle in a partial execution condemns all its completions.
//
// Kept as a transitive closure: testing an edge is one bit, adding one is at most one pass over the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/litmus/skeletons/relation.hpp"

namespace loco::model::litmus {

template <int Words>
class OrderGraph {
 public:
  static constexpr int kNodesMax = Words * 64;
  using Row = std::array<std::uint64_t, static_cast<std::size_t>(Words)>;

  OrderGraph() = default;
  explicit OrderGraph(int nodes) : n_(nodes) {
    for (int i = 0; i < nodes; ++i) row(i) = Row{};
  }
  OrderGraph(const OrderGraph& o) : n_(o.n_) { copy(o); }
  OrderGraph& operator=(const OrderGraph& o) {
    n_ = o.n_;
    copy(o);
    return *this;
  }

  [[nodiscard]] bool reaches(int a, int b) const { return ((row(a)[word(b)] >> (unsigned(b) % 64)) & 1) != 0; }

  /// Sets an edge without closing; close() must follow.
  void set(int a, int b) { row(a)[word(b)] |= bit(b); }
  /// Closes transitively; false if there is a cycle.
  bool close() {
    for (int k = 0; k < n_; ++k)
      for (int i = 0; i < n_; ++i)
        if (reaches(i, k)) merge(row(i), row(k));
    for (int i = 0; i < n_; ++i)
      if (reaches(i, i)) return false;
    return true;
  }
  /// Adds an edge to the closed graph; false, and the graph unchanged, if that makes a cycle.
  bool add(int a, int b) {
    if (a == b || reaches(b, a)) return false;
    if (!reaches(a, b)) join(a, b);
    return true;
  }

 private:
  static constexpr std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static constexpr std::uint64_t bit(int i) { return std::uint64_t{1} << (static_cast<unsigned>(i) % 64); }
  Row& row(int i) { return rows_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Row& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }
  static void merge(Row& into, const Row& from) {
    for (std::size_t w = 0; w < into.size(); ++w) into[w] |= from[w];
  }
  /// Every node that reaches a now reaches every node that b reaches.
  void join(int a, int b) {
    Row gained = row(b);
    gained[word(b)] |= bit(b);
    for (int i = 0; i < n_; ++i) {  // without branches, which are mispredicted
      const std::uint64_t mask = reaches(i, a) ? ~std::uint64_t{0} : 0;
      for (std::size_t w = 0; w < gained.size(); ++w) row(i)[w] |= gained[w] & mask;
    }
    merge(row(a), gained);
  }
  void copy(const OrderGraph& o) {
    for (int i = 0; i < n_; ++i) row(i) = o.row(i);
  }

  int n_ = 0;
  std::array<Row, static_cast<std::size_t>(kNodesMax)> rows_;
};

}  // namespace loco::model::litmus
