// The relations of a candidate execution with their names, for telling people: which edges there are, why, and
// which of them form a cycle. Slower than order_graph.hpp, and independent of it.
#pragma once

#include <string>
#include <vector>

#include "model/litmus/models/axioms.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

struct LabelledEdge {
  int from = 0, to = 0;     ///< subevents
  bool from_start = false;  ///< joins the start of `from` (else its finish) ...
  bool to_start = false;    ///< ... to the start of `to`
  std::string relation;
  std::string why;

  friend bool operator==(const LabelledEdge& a, const LabelledEdge& b) {
    return a.from == b.from && a.to == b.to && a.from_start == b.from_start && a.to_start == b.to_start;
  }
};

/// A candidate, possibly partial: reads without a source and pairs without an order add nothing.
struct Candidate {
  Sources rf;
  std::vector<std::pair<int, int>> mo;   ///< decided pairs, earlier write first
  std::vector<std::pair<int, int>> nfo;  ///< decided pairs, in order
  std::vector<std::pair<int, int>> rao;  ///< the same, the reads of two atomics
};

class CandidateGraph {
 public:
  CandidateGraph(const Skeleton& x, const Axioms& a);

  /// All edges of the candidate, fixed ones first.
  [[nodiscard]] std::vector<LabelledEdge> edges(const Candidate& c) const;
  /// A shortest cycle of the edges, empty if there is none. Edges of `fb` alone close a cycle of hb at most once.
  [[nodiscard]] std::vector<LabelledEdge> shortest_cycle(const std::vector<LabelledEdge>& edges) const;
  [[nodiscard]] const std::vector<LabelledEdge>& fixed() const { return fixed_; }

 private:
  void add_fixed();
  [[nodiscard]] std::pair<std::string, std::string> name_fixed(int i, int j, bool in_ib) const;
  [[nodiscard]] std::pair<std::string, std::string> name_core(int i, int j) const;
  [[nodiscard]] std::pair<std::string, std::string> name_verbs(int i, int j, bool in_ib) const;
  /// ` (R1)` where the model has the rule.
  [[nodiscard]] std::string by_rule(Rule rule) const;
  /// Adds the edges that follow from hb (Axioms::grow).
  void grow(const Candidate& c, std::vector<LabelledEdge>& edges) const;

  const Skeleton& x_;
  const Axioms& a_;
  std::vector<LabelledEdge> fixed_;
};

/// `put(z, x): aNRW`, and with a value once it is known.
[[nodiscard]] std::string describe(const Skeleton& x, const Sources& rf, int sub);

}  // namespace loco::model::litmus
