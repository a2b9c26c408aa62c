// The exact semantics for questions of liveness: states that can be told apart, and steps between them.
//
// Unlike the set system, nothing is left out or put off: every operation is there until it is done, in the parts that
// it has (semantics.hpp). Two things are made one, since no run can tell them apart: operations of one statement with
// the same parts done and the same values held (the first to come is the first to go), and reads of variables that
// never change, which are done at once. Values that nobody will read are 0.
//
// What a process does on its own, seen by nobody, goes with the step before it: statements on its locals and on words
// that no other process uses, a flush that has nothing to wait for, and, while it waits at a flush, what its NIC reads
// from such words and writes to them. No other step can tell whether these have been taken, no property sees them, and
// a chain of them comes to an end, since it stops where a loop begins and before each remote statement: fair runs with
// and without them between steps are the same but for the moments at which they are taken.
//
// A bound says how many operations of one statement may be pending. One more is either held back, so that what is found
// is real (`kHeldBack`), or all that are alike become one that stands for many, which may stay whenever one of them
// goes on and keeps no order (`kMany`): this only adds runs.
//
// Values of which only differences matter (shifts.hpp) are told relative to the smallest of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/constants.hpp"
#include "verify/liveness/shifts.hpp"
#include "verify/numbers.hpp"
#include "verify/semantics.hpp"
#include "verify/static_facts.hpp"

namespace loco::verify::liveness {

/// An operation that is pending, or several that are alike.
struct Operation {
  std::uint32_t statement = 0;
  Part next = Part::kReadOperand;
  bool many = false;
  Value operand = 0;  ///< once read, as the others
  Value swap = 0;
  Value result = 0;
  friend auto operator<=>(const Operation&, const Operation&) = default;
};

struct State {
  std::vector<std::uint32_t> at;
  std::vector<Value> shared;
  std::vector<Value> locals;
  std::vector<Operation> operations;  ///< those that wait for their turn in the order of issue, then the others sorted
};

struct Move {
  bool nic = false;
  std::uint32_t process = 0;
  std::uint32_t edge = 0;
  std::uint32_t choice = 0;
  std::uint32_t operation = 0;  ///< index of State::operations
  bool stays = false;           ///< of many: others like it stay
};

enum class Beyond : std::uint8_t { kHeldBack, kMany };

class System {
 public:
  /// The program outlives this.
  System(const Program& program, FlushMask flushes, Network network, std::uint32_t bound, Beyond beyond);

  /// Before any step.
  [[nodiscard]] State first();
  /// The same after what goes before any step that is seen, with the moves that lead there, if asked for.
  [[nodiscard]] State initial(std::vector<Move>* chain = nullptr);
  /// The moves that a state has, always in the same order. `held_back`: some statement was, by the bound. `enabled`: by
  /// process, whether it has a step, held back or not.
  void moves(const State& state, std::vector<Move>& into, std::vector<bool>& enabled, bool& held_back);
  [[nodiscard]] State after(const State& state, const Move& move);
  /// The state after this move alone.
  [[nodiscard]] State single(const State& state, const Move& move);
  /// What goes with the step that led to a state: the next move that nobody sees, of this process or its NIC.
  [[nodiscard]] std::optional<Move> unseen(const State& state, std::uint32_t process);
  /// Who takes a move, or issued the operation that does.
  [[nodiscard]] std::uint32_t owner(const State& state, const Move& move) const;
  /// The operation that the last move issued, or brought to where it only has to write its result.
  [[nodiscard]] const std::optional<Operation>& added() const { return added_; }

  [[nodiscard]] Value value(const State& state, const Expression& expression);
  [[nodiscard]] bool reads_constant(std::uint32_t statement, Part part) const;
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const FlushMask& flushes() const { return flushes_; }
  [[nodiscard]] Network network() const { return network_; }
  [[nodiscard]] const Shifts& shifts() const { return shifts_; }
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }

 private:
  [[nodiscard]] bool queued(const Operation& o) const;
  [[nodiscard]] bool waits(const State& state, std::uint32_t operation) const;
  [[nodiscard]] bool enabled(const State& state, const Edge& edge);
  void go_on(State& state, Operation& operation);
  void settle(State& state, Operation& operation);
  void add(State& state, const Operation& operation);
  void do_edge(State& state, const Edge& edge, std::uint32_t choice);
  void sort(State& state) const;
  void find_unseen();
  void forget(State& state) const;
  /// `more`: an operation that is to be told alike.
  void shift(State& state, std::optional<Operation>& more) const;
  [[nodiscard]] bool is_own(std::uint32_t shared, std::uint32_t process) const { return owner_[shared] == process; }
  [[nodiscard]] bool in_use(const State& state, std::uint32_t shared) const;
  [[nodiscard]] std::optional<Move> unseen_part(const State& state, std::uint32_t process, std::uint32_t target) const;
  [[nodiscard]] bool alone(const State& state, std::uint32_t operation, std::uint32_t word) const;

  const Program* program_;
  FlushMask flushes_;
  Network network_;
  std::uint32_t bound_;
  Beyond beyond_;
  Constants constants_;
  Program asked_;  ///< the program with what its liveness properties ask as properties, for what is live
  StaticFacts facts_;
  std::vector<std::uint32_t> owner_;           ///< by shared variable: the only process that uses it, if there is one
  std::vector<std::vector<bool>> seen_edges_;  ///< by process and edge: a property may see that it is taken
  Shifts shifts_;
  Numbers numbers_;
  std::optional<Operation> added_;
};

}  // namespace loco::verify::liveness
