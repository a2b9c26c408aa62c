// Does the pivot matter in a program? (coreRMA paper, Section 6.1.)
//
// A candidate picks for every read a writer of its variable or the initial value, and for every variable a total order
// of its writers. It witnesses that the pivot matters if its hb has a cycle, loses all cycles when one edge (a, b) that
// the pivot induces is taken out, and every writer in it is read by some local read.
//
// The search tries each such edge: hb without it must be acyclic and lead from b back to a. That path is assumed from
// the start, as an edge b -> a of the transitive closure, so that most choices fail at once; what hb really has is kept
// beside it, and looked at in the end (and before: what undecided variables could still contribute bounds it).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/corerma/action_graph.hpp"
#include "model/corerma/candidate_values.hpp"

namespace loco::model::corerma {

/// `any`: every writer is read by at least one local read. `one`: by exactly one.
enum class Reads : std::uint8_t { any, one };

/// What a test is about: a rule, and for CAS perhaps how the compare-and-swap of the edge ends in the candidate (the
/// paper's CAS-T and CAS-F, which order the same and differ in the values).
struct Pivot {
  Rule rule = Rule::r1;
  std::optional<bool> succeeds = {};
};
/// `R1`, `CAS-T`. Throws std::invalid_argument: `expected ..., found ...`.
[[nodiscard]] Pivot parse_pivot(std::string_view text);
[[nodiscard]] std::string text(const Pivot& pivot);

class WitnessSearch {
 public:
  WitnessSearch(RuleSet rules, Pivot pivot, Reads reads)
      : rules_(rules), pivot_(pivot.rule), succeeds_(pivot.succeeds), reads_(reads), by_hb_(!rules.has(Rule::ws)) {}

  /// The first witness found, or null. Valid until the next call.
  const Witness* find(const Program& program) { return find(program, {}); }
  /// The first one that `accept` does not turn down, either.
  const Witness* find(const Program& program, const std::function<bool(const Witness&)>& accept);

  /// Of the program last looked at.
  [[nodiscard]] const ActionGraph& graph() const { return g_; }

 private:
  struct Order {
    std::array<Actions, kSizeMax> reach;  ///< closure, with the assumed edge
    std::array<Actions, kSizeMax> edge;   ///< edges of hb; the assumed edge is not among them
  };

  bool try_edge(int a, int b);
  bool try_static_edges();
  bool try_dynamic_edges();
  bool add(Order& o, int i, int j) const;
  bool add_one(Order& o, int i, int j) const;
  [[nodiscard]] bool can_return(const Order& o, int next_variable, Actions undecided) const;
  bool choose_variable(int v, const Order& o);
  bool order_writers(int v, Actions left, Actions ordered, const Order& o);
  bool choose_source(int v, Actions left, Actions unread, const Order& o);
  bool pick(int v, int r, int w, Actions left, Actions unread, const Order& o);
  [[nodiscard]] bool returns(const Order& o) const;
  bool settle(Order& o) const;
  bool complete(const Order& o);
  [[nodiscard]] bool ends_as_asked() const;

  RuleSet rules_;
  Rule pivot_;
  std::optional<bool> succeeds_;
  Reads reads_;
  bool by_hb_;  ///< no WS: writers are in no order but hb's
  const Program* program_ = nullptr;
  const std::function<bool(const Witness&)>* accept_ = nullptr;
  ActionGraph g_;
  int a_ = 0, b_ = 0;
  std::array<Actions, kSizeMax> later_{};  ///< of each writer: those chosen to come later
  Witness witness_;
};

}  // namespace loco::model::corerma
