// The search within one skeleton. See search.hpp for the method.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/litmus/axioms.hpp"
#include "model/litmus/checks.hpp"
#include "model/litmus/leader.hpp"
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
  std::uint64_t steps = 0;                ///< skeletons and choices of a source
  std::uint64_t ask_at = 0;               ///< at so many steps ...
  const std::function<bool()>* ask = {};  ///< ... it is asked whether to go on

  [[nodiscard]] bool known(const Outcome& outcome) const;
  /// Counts an execution that stands for `orbit` of them; false if the search must stop.
  bool found(const Outcome& outcome, std::uint64_t orbit);
  /// False if the search must stop.
  bool step() {
    constexpr std::uint64_t kPollEvery = 4096;
    constexpr std::uint64_t kAskEvery = 256;
    if (++steps % kPollEvery == 0 && options.poll) options.poll();
    if (steps % kAskEvery == 0 && options.out_of_time && options.out_of_time()) {
      result.timed_out = true;
      return false;
    }
    return steps != ask_at || (*ask)();
  }
};

/// The symmetries of a skeleton, within a group of symmetries of the program.
struct SkeletonSymmetry {
  std::vector<const Automorphism*> stabiliser;  ///< those that map its paths to themselves, all but the identity
  std::uint64_t order = 1;                      ///< of the whole group
};

template <int Words>
class SkeletonSearch {
 public:
  SkeletonSearch(const Skeleton& x, const Axioms& a, const SkeletonSymmetry& symmetry, ExecutionSink& sink)
      : x_(x), a_(a), symmetry_(symmetry), sink_(sink) {}

  /// False if the whole search must stop.
  bool run();

 private:
  using Graph = OrderGraph<Words>;
  struct Pair {  // two writes whose mo, or a NIC read and a NIC write whose nfo, is open
    std::int16_t a, b;
    bool nfo;
  };
  struct CellUse {
    int cell;
    std::vector<int> writes, reads;
  };

  // --- set-up ---
  bool build_graph(Graph& g);
  void collect_cells();
  void collect_finals();
  void order_reads();
  void follow_leaders();
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
  /// The candidate is complete: adds what its hb asks for by itself. False if there is no such hb.
  bool settle(Graph& g) const;

  // --- values ---
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
  [[nodiscard]] bool only_new_outcomes() const;
  bool choose_last(std::size_t k, const Graph& g);
  bool complete(const Graph& g);
  bool orient(Graph g, bool& exists);
  bool orient_all(const Graph& g, std::size_t next);
  bool accept(const Graph& g);
  [[nodiscard]] bool values_agree(const Graph& g) const;
  [[nodiscard]] Witness witness(const Graph& g) const;
  [[nodiscard]] const CellUse& use_of(int sub) const { return at(cells_, cell_index_[static_cast<std::size_t>(sub)]); }

  const Skeleton& x_;
  const Axioms& a_;
  const SkeletonSymmetry& symmetry_;
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
