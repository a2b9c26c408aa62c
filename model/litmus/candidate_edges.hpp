// The edges of a candidate execution in its order graph: the fixed ones of the axioms, and those that rf, mo and nfo
// bring as the search chooses them. Adding fails where the graph would get a cycle.
//
// In a header: the search asks and adds at each of its steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/litmus/axioms.hpp"
#include "model/litmus/cell_accesses.hpp"
#include "model/litmus/order_graph.hpp"
#include "model/litmus/values.hpp"

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
  bool add_rb(Graph& g, int r, int w) const {
    return !a_.rb_never.contains(r, w) && (!a_.rb_so.contains(r, w) || g.add(r, w)) &&
           (!a_.rb_ib.contains(r, w) || g.add(start(r), start(w)));
  }
  /// mo(w1, w2), and with it rb from the readers of w1 to w2.
  bool add_mo(Graph& g, int w1, int w2) const {
    if (!g.add(w1, w2)) return false;
    for (const int r : accesses_.of(w1).reads)
      if (rf_[r] == w1 && r != w2 && !add_rb(g, r, w2)) return false;
    return true;
  }
  /// False where an edge of rb(r, w) would close a cycle.
  [[nodiscard]] bool rb_possible(const Graph& g, int r, int w) const {
    return !a_.rb_never.contains(r, w) && !(a_.rb_so.contains(r, w) && g.reaches(w, r)) &&
           !(a_.rb_ib.contains(r, w) && g.reaches(start(w), start(r)));
  }
  [[nodiscard]] bool mo_possible(const Graph& g, int w1, int w2) const {
    if (g.reaches(w2, w1)) return false;
    for (const int r : accesses_.of(w1).reads)
      if (rf_[r] == w1 && r != w2 && !rb_possible(g, r, w2)) return false;
    return true;
  }

  /// rao(r1, r2): the second atomic reads when the first one has read, and written if it writes.
  bool add_rao(Graph& g, int r1, int r2) const {
    const int write = a_.atomic_write(r1);
    return g.add(r1, r2) && (write == kNone || g.add(write, r2));
  }
  [[nodiscard]] bool rao_possible(const Graph& g, int r1, int r2) const {
    const int write = a_.atomic_write(r1);
    return !g.reaches(r2, r1) && (write == kNone || !g.reaches(r2, write));
  }

  [[nodiscard]] bool possible(const Graph& g, const Pair& p, bool forward) const {
    if (p.choice == Choice::nfo) return forward ? !g.reaches(start(p.b), p.a) : !g.reaches(p.a, p.b);
    if (p.choice == Choice::rao) return forward ? rao_possible(g, p.a, p.b) : rao_possible(g, p.b, p.a);
    return forward ? mo_possible(g, p.a, p.b) : mo_possible(g, p.b, p.a);
  }
  bool add(Graph& g, const Pair& p, bool forward) const {
    if (p.choice == Choice::nfo) return forward ? g.add(p.a, start(p.b)) : g.add(p.b, p.a);
    if (p.choice == Choice::rao) return forward ? add_rao(g, p.a, p.b) : add_rao(g, p.b, p.a);
    return forward ? add_mo(g, p.a, p.b) : add_mo(g, p.b, p.a);
  }

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
