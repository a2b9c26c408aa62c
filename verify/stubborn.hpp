// Partial-order reduction: which agents need to move next so that no way of breaking a property is lost.
//
// The agents are the processes and the pending operations. A set of agents suffices (Valmari, "Stubborn sets for
// reduced state space generation", 1989, in the form that Schmidt, "Stubborn sets for standard properties", 1999, gives
// for state properties) when
//   - every way from here to something broken has a move of one of them, and
//   - what agents outside may do, now or later, commutes with what those inside can do next, or can be done after it
//     with no less effect: an operation that is issued earlier may read more.
// The first move of an agent inside can then be brought to the front, and the same end is reached in as many steps.
// When the set has no move at all, nothing can be broken any more.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/engine.hpp"
#include "verify/set_system.hpp"

namespace loco::verify {

class Stubborn {
 public:
  /// The limits outlive this: what it does for a point may take long in a large program.
  Stubborn(SetSystem& system, const Limits& limits);

  /// Fills `into` with the moves to explore from this point.
  void moves(const Point& point, std::vector<Move>& into);

  /// The moves of one process, if there is one whose next step nobody can tell from a later one, no property sees, and
  /// no cycle consists of: such a step may be taken before all else. The way to what is broken may have more steps
  /// then.
  void free_moves(const Point& point, std::vector<Move>& into);

 private:
  using Agent = std::uint32_t;  ///< a process, or the number of processes and an entry

  struct Node {
    std::uint32_t begin = 0;  ///< the expression in the nodes [begin, its own place] of the postfix
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  void start(const Point& point);
  void add(Agent agent);
  void close(const Point& point);
  void add_conflicting(const Point& point, Agent agent);
  [[nodiscard]] bool free(const Point& point, std::uint32_t process) const;
  void add_enabling(const Point& point, Agent agent);
  void add_goals(const Point& point, std::uint32_t preferred);
  void add_changing(const Point& point, std::size_t property, std::uint32_t preferred);
  void add_changing_leaf(const Point& point, const ExpressionNode& node);
  [[nodiscard]] bool stuck(const Point& point, std::uint32_t process);
  [[nodiscard]] Future future(const Point& point, Agent agent) const;

  SetSystem* system_;
  const Limits* limits_;
  std::vector<std::vector<Node>> trees_;  ///< of the properties
  bool has_final_ = false;
  std::uint32_t processes_;

  std::vector<bool> in_;
  std::vector<Agent> work_;
  std::vector<Value> values_;  ///< of the parts of a property
  std::vector<Move> found_;
  std::vector<std::vector<Move>> agent_moves_;  ///< by agent, as far as asked for
  std::vector<bool> asked_;
};

}  // namespace loco::verify
