// The edges of a candidate execution in its order graph: the fixed ones of the axioms, and those that rf, mo and nfo
// bring as the search chooses them. Adding fails where the graph would get a cycle.
//
// In a header: the search asks and adds at each of its steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/cell_accesses.hpp"
#include "model/litmus/search/order_graph.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

template <int Words>
class CandidateEdges {
 public:
  using Graph = OrderGraph<Words>;

  enum class Choice : std::uint8_t { mo, nfo, rao };
  /// Two writes whose mo, a NIC read and a NIC write whose nfo, or two atomics whose rao is open. Forward: a before b.
  struct Pair {
    std::int16_t a, b;
    Choice choice;
  };

  /// `rf`: the sources chosen so far. All are kept by reference.
  CandidateEdges(const Skeleton& x, const Axioms& a, const CellAccesses& accesses, const Sources& rf)
      : x_(x), a_(a), accesses_(accesses), rf_(rf) {}

  /// The graph of the fixed edges; false if it has a cycle.
  bool build(Graph& g);

  /// The node at which a subevent starts.
  [[nodiscard]] int start(int s) const { return start_[static_cast<std::size_t>(s)]; }

  bool add_rf(Graph& g, int w, int r) const {
    return (!a_.rf_so.contains(w, r) || g.add(w, r)) && (!a_.rf_ib.contains(w, r) || g.add(start(w), start(r)));
  }
  bool add_rb(Graph& g, int r, int w) const { return rb(adds(g), r, w); }
  /// mo(w1, w2), and with it rb from the readers of w1 to w2.
  bool add_mo(Graph& g, int w1, int w2) const { return mo(adds(g), w1, w2); }
  /// False where an edge of rb(r, w) would close a cycle.
  [[nodiscard]] bool rb_possible(const Graph& g, int r, int w) const { return rb(asks(g), r, w); }

  [[nodiscard]] bool possible(const Graph& g, const Pair& p, bool forward) const { return decide(asks(g), p, forward); }
  bool add(Graph& g, const Pair& p, bool forward) const { return decide(adds(g), p, forward); }

  /// Adds the edges of mo between w and the cell's other writes that follow from the new pair rf(w, r).
  bool cohere(Graph& g, int w, int r) const;

  /// Adds the edges that follow from hb (Axioms::grow), to a fixpoint.
  bool grow(Graph& g) const;

  /// False if hb holds a pair that it must not hold.
  [[nodiscard]] bool hb_allowed(const Graph& g) const {
    bool allowed = true;
    a_.never_hb.for_each([&](int a, int b) { allowed = allowed && !g.reaches(a, b); });
    return allowed;
  }

 private:
  // Each relation is told once: `edge(a, b)` adds an edge, or asks whether it would close a cycle.
  static auto adds(Graph& g) {
    return [&g](int a, int b) { return g.add(a, b); };
  }
  static auto asks(const Graph& g) {
    return [&g](int a, int b) { return !g.reaches(b, a); };
  }
  template <class Edge>
  bool rb(const Edge& edge, int r, int w) const {
    return !a_.rb_never.contains(r, w) && (!a_.rb_so.contains(r, w) || edge(r, w)) &&
           (!a_.rb_ib.contains(r, w) || edge(start(r), start(w)));
  }
  template <class Edge>
  bool mo(const Edge& edge, int w1, int w2) const {
    return edge(w1, w2) && std::ranges::all_of(accesses_.of(w1).reads,
                                               [&](int r) { return rf_[r] != w1 || r == w2 || rb(edge, r, w2); });
  }
  /// rao(r1, r2): the second atomic reads when the first one has read, and written if it writes.
  template <class Edge>
  bool rao(const Edge& edge, int r1, int r2) const {
    const int write = a_.atomic_write(r1);
    return edge(r1, r2) && (write == kNone || edge(write, r2));
  }
  template <class Edge>
  bool decide(const Edge& edge, const Pair& p, bool forward) const {
    if (p.choice == Choice::nfo) return forward ? edge(p.a, start(p.b)) : edge(p.b, p.a);
    const int first = forward ? p.a : p.b, second = forward ? p.b : p.a;
    return p.choice == Choice::rao ? rao(edge, first, second) : mo(edge, first, second);
  }

  const Skeleton& x_;
  const Axioms& a_;
  const CellAccesses& accesses_;
  const Sources& rf_;
  std::array<std::int16_t, kSubeventsMax> start_{};
};

template <int Words>
bool CandidateEdges<Words>::build(Graph& g) {
  int nodes = x_.n;
  for (int i = 0; i < x_.n; ++i)
    start_[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(a_.started.contains(i) ? nodes++ : i);
  g = Graph(nodes);
  for (int i = 0; i < x_.n; ++i) {
    if (start(i) != i) g.set(start(i), i);
    (x_.ppo.row(i) | a_.so.row(i)).for_each([&](int j) { g.set(i, j); });
    a_.ib.row(i).for_each([&](int j) { g.set(start(i), start(j)); });
  }
  return g.close();
}

template <int Words>
bool CandidateEdges<Words>::cohere(Graph& g, int w, int r) const {
  for (const int other : accesses_.of(r).writes) {
    if (other == w || !a_.mo.contains(w, other)) continue;
    if ((other == r && a_.rf_so.contains(w, r)) || g.reaches(w, other)) {
      if (!add_mo(g, w, other)) return false;
    } else if (g.reaches(other, w) || !rb_possible(g, r, other)) {
      if (!add_mo(g, other, w)) return false;
    }
  }
  return true;
}

template <int Words>
bool CandidateEdges<Words>::grow(Graph& g) const {
  bool possible = true;
  for (bool grown = true; grown && possible && (a_.rb_from_hb || !a_.steps.empty());) {
    grown = false;
    a_.grow(
        x_, [&](int i, int j) { return g.reaches(i, j); }, [&](int r) { return rf_[r]; },
        [&](int i, int j, Rule) {
          grown = grown || !g.reaches(i, j);
          possible = possible && g.add(i, j);
        });
  }
  return possible;
}

}  // namespace loco::model::litmus
