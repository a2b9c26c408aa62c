// The search within one skeleton. See search.hpp for the method.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/candidate_edges.hpp"
#include "model/litmus/search/cell_accesses.hpp"
#include "model/litmus/search/checks.hpp"
#include "model/litmus/search/execution_sink.hpp"
#include "model/litmus/search/leader.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

/// The symmetries of a skeleton, within a group of symmetries of the program.
struct SkeletonSymmetry {
  std::vector<const Automorphism*> stabiliser;  ///< those that map its paths to themselves, all but the identity
  std::uint64_t order = 1;                      ///< of the whole group
};

template <int Words>
class SkeletonSearch {
 public:
  SkeletonSearch(const Skeleton& x, const Axioms& a, const SkeletonSymmetry& symmetry, ExecutionSink& sink)
      : x_(x), a_(a), symmetry_(symmetry), sink_(sink), edges_(x, a, accesses_, rf_) {}

  /// False if the whole search must stop.
  bool run();

 private:
  using Graph = OrderGraph<Words>;
  using Pair = typename CandidateEdges<Words>::Pair;
  using Choice = typename CandidateEdges<Words>::Choice;

  // --- set-up ---
  void collect_reads();
  void collect_finals();
  void order_reads();
  void follow_leaders();

  // --- values ---
  [[nodiscard]] int source(int read) const { return rf_[read]; }
  [[nodiscard]] std::optional<Value> value(int thread, int symbol) const { return value_of(x_, rf_, thread, symbol); }
  [[nodiscard]] bool checks_hold(std::size_t decided) { return checks_.empty() || checks_.hold(x_, rf_, decided); }

  // --- symmetry ---
  /// The k-th read, or the k-th final location, is decided. False if this is not the least of its orbit.
  bool leads_with_read(std::size_t k, int value) {
    return leader_.trivial() || leader_.decide(k < relevant_ ? k : k + finals_.size(), value);
  }
  bool leads_with_last(std::size_t k, int value) { return leader_.trivial() || leader_.decide(relevant_ + k, value); }

  // --- the search ---
  bool choose_source(std::size_t k, const Graph& g);
  bool outcome_known(const Graph& g);
  bool choose_last(std::size_t k, const Graph& g);
  bool complete(const Graph& g);
  bool orient(Graph g, bool& exists);
  bool orient_all(const Graph& g, std::size_t next);
  bool orient_traces(const Graph& g, const std::vector<Pair>& mo, std::size_t next);
  /// Completes a candidate with the edges that follow from its hb. False if hb then has a cycle.
  bool settle(Graph& g) const;
  bool accept(const Graph& g);
  [[nodiscard]] bool values_agree(const Graph& g) const;
  [[nodiscard]] Witness witness(const Graph& g) const;

  const Skeleton& x_;
  const Axioms& a_;
  const SkeletonSymmetry& symmetry_;
  ExecutionSink& sink_;
  CellAccesses accesses_;
  Sources rf_;
  CandidateEdges<Words> edges_;
  std::vector<int> order_;       ///< reads to decide: first those on which the outcome depends
  std::size_t relevant_ = 0;     ///< how many those are
  bool outcome_fixed_ = false;   ///< outcome_ is that of the branch being searched
  std::vector<Pair> nic_pairs_;  ///< those of nfo, then those of rao
  Checks checks_;
  Leader leader_;
  std::vector<int> lasts_;   ///< of each of finals_, the write chosen, or kInitial
  std::vector<int> finals_;  ///< observables that are locations with at least one write
  Outcome outcome_;
  std::vector<Pair> pending_;
};

extern template class SkeletonSearch<1>;
extern template class SkeletonSearch<2>;
extern template class SkeletonSearch<4>;

}  // namespace loco::model::litmus
