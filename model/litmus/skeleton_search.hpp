// The search within one skeleton. See search.hpp for the method.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/litmus/axioms.hpp"
#include "model/litmus/order_graph.hpp"
#include "model/litmus/search.hpp"
#include "model/litmus/values.hpp"

namespace loco::model::litmus {

/// Collects what the skeletons' searches find.
struct ExecutionSink {
  const Program& program;
  const SearchOptions& options;
  const PartialOutcome& wanted;
  const ExecutionVisitor& visit;
  SearchResult result;

  [[nodiscard]] bool known(const Outcome& outcome) const;
  /// Counts an execution; false if the search must stop.
  bool found(const Outcome& outcome);
};

template <int Words>
class SkeletonSearch {
 public:
  SkeletonSearch(const Skeleton& x, const Axioms& a, ExecutionSink& sink) : x_(x), a_(a), sink_(sink) {}

  /// False if the whole search must stop.
  bool run();

 private:
  using Graph = OrderGraph<Words>;
  struct Pair {  // two writes whose mo, or a NIC read and a NIC write whose nfo, is open
    std::int16_t a, b;
    bool nfo;
  };
  struct Check {  // a condition on a path, or a value that is wanted
    int thread, symbol;
    bool equals;            // to `value`; else: is it other than 0?
    Value value;            // if not equals: 1 for other than 0, 0 for 0
    std::size_t reads = 0;  // its value is unknown until so many reads of order_ are decided, perhaps longer
  };
  struct CellUse {
    int cell;
    std::vector<int> writes, reads;
  };

  // --- set-up ---
  bool build_graph(Graph& g);
  void collect_cells();
  void collect_checks();
  void order_reads();
  void mark_relevant(int thread, int symbol, Set& relevant) const;

  // --- edges ---
  [[nodiscard]] int start(int s) const { return start_[static_cast<std::size_t>(s)]; }
  [[nodiscard]] int source(int read) const { return rf_[read]; }
  bool add_rf(Graph& g, int w, int r) const;
  bool add_rb(Graph& g, int r, int w) const;
  bool add_mo(Graph& g, int w1, int w2) const;
  [[nodiscard]] bool mo_possible(const Graph& g, int w1, int w2) const;
  bool cohere(Graph& g, int w, int r) const;
  [[nodiscard]] bool hb_allowed(const Graph& g) const;

  // --- values ---
  [[nodiscard]] std::optional<Value> value(int thread, int symbol) const { return value_of(x_, rf_, thread, symbol); }
  void find_reads_of_checks();
  [[nodiscard]] bool checks_hold(std::size_t decided) const;

  // --- the search ---
  bool choose_source(std::size_t k, const Graph& g);
  bool outcome_known(const Graph& g);
  [[nodiscard]] bool only_new_outcomes() const;
  bool choose_last(std::size_t k, const Graph& g);
  bool complete(const Graph& g);
  bool orient(Graph g, bool& exists);
  bool orient_all(const Graph& g, std::size_t next);
  bool accept(const Graph& g);
  bool conflicts_agree(const Graph& g) const;
  [[nodiscard]] Witness witness(const Graph& g) const;
  [[nodiscard]] const CellUse& use_of(int sub) const { return at(cells_, cell_index_[static_cast<std::size_t>(sub)]); }

  const Skeleton& x_;
  const Axioms& a_;
  ExecutionSink& sink_;
  std::array<std::int16_t, kSubeventsMax> start_{};
  Sources rf_;
  std::array<std::int16_t, kSubeventsMax> cell_index_{};
  int nodes_ = 0;
  std::vector<CellUse> cells_;
  std::vector<int> order_;      ///< reads to decide: first those on which the outcome depends
  std::size_t relevant_ = 0;    ///< how many those are
  bool outcome_fixed_ = false;  ///< outcome_ is that of the branch being searched
  std::vector<Pair> nfo_;
  std::vector<Check> checks_;
  std::vector<int> finals_;  ///< observables that are locations with at least one write
  Outcome outcome_;
  std::vector<Pair> pending_;
};

extern template class SkeletonSearch<1>;
extern template class SkeletonSearch<2>;
extern template class SkeletonSearch<4>;

}  // namespace loco::model::litmus
