// The exact semantics of RMA programs as one step relation: written to be read beside its description in docs/verify.md
// (and sections 2.1 and 3.1 of the paper that `program.hpp` names), not to be fast. It judges every counterexample.
//
// A state is the place of each process, memory, locals, and the operations that NICs have pending. One step is an edge
// of a process, or one part of one pending operation:
//
//   put: read operand | write remote                      get: read remote | write result
//   rga: read operand | add to remote | write result      cas: read operand | read swap | compare and swap | write
//   result
//
// A flush waits until no operation of its process to its target is pending in any part. Under `sc` a remote statement
// does all its parts in one step and nothing is ever pending. Under `in-order` and `verbs` the part that touches the
// target's memory waits for that part of operations issued earlier by the same process to the same other process: of
// all, or, under `verbs`, of puts for a put and of gets for a get.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "verify/integer.hpp"
#include "verify/network.hpp"
#include "verify/program.hpp"
#include "verify/trace.hpp"

namespace loco::verify {

/// The next step of a pending operation.
enum class Part : std::uint8_t { kReadOperand, kReadSwap, kTarget, kWriteResult, kDone };

/// The part that comes first, and the one that comes after another, of operations of this kind.
[[nodiscard]] Part first_part(RemoteKind kind);
[[nodiscard]] Part part_after(RemoteKind kind, Part part);

// What follows holds of states with any kind of numbers: `Integer`, or the shorter ones of engines. `State` has `at`,
// `shared` and `locals`.

/// The state in which a run begins; `number` makes a number of an Integer.
template <typename State, typename Number>
[[nodiscard]] State first_state(const Program& program, Number number) {
  State state;
  for (const Process& p : program.processes) state.at.push_back(p.entry);
  for (const SharedVariable& v : program.shared) state.shared.push_back(number(v.initial));
  for (const LocalVariable& v : program.locals) state.locals.push_back(number(v.initial));
  return state;
}

/// The value of a variable or place of an expression.
template <typename State>
[[nodiscard]] auto leaf_value(const Program& program, const State& state, const ExpressionNode& node) {
  using Number = std::decay_t<decltype(state.shared[0])>;
  if (node.op == Operator::kLocal) return state.locals[node.index];
  if (node.op == Operator::kShared) return state.shared[node.index];
  const std::uint32_t at = state.at[node.index];
  const bool there =
      node.op == Operator::kIn ? program.processes[node.index].labels[node.location].inside[at] : at == node.location;
  return Number(there ? 1 : 0);
}

/// What the target's memory holds when the part of an operation that touches it is done.
template <typename Number, typename Add>
[[nodiscard]] Number at_target(RemoteKind kind, const Number& remote, const Number& operand, const Number& swap,
                               Add add) {
  if (kind == RemoteKind::kPut) return operand;
  if (kind == RemoteKind::kRga) return add(remote, operand);
  return kind == RemoteKind::kCas && remote == operand ? swap : remote;
}

/// One part of an operation, which has what was read so far as `operand`, `swap` and `result`.
template <typename State, typename Operation, typename Add>
void do_part(State& state, Operation& o, const RemoteStatement& s, Add add) {
  auto& remote = state.shared[s.remote];
  switch (o.next) {
    case Part::kReadOperand:
      o.operand = state.shared[s.operand.value()];
      break;
    case Part::kReadSwap:
      o.swap = state.shared[s.swap.value()];
      break;
    case Part::kTarget:
      o.result = remote;
      remote = at_target(s.kind, o.result, o.operand, o.swap, add);
      o.operand = o.swap = 0;  // nobody asks for them any more
      break;
    case Part::kWriteResult:
      state.shared[s.result.value()] = o.result;
      break;
    case Part::kDone:
      break;
  }
  o.next = part_after(s.kind, o.next);
}

/// Whether all processes have ended.
[[nodiscard]] bool all_ended(const Program& program, const std::vector<std::uint32_t>& at);

struct PendingOperation {
  std::uint32_t statement = 0;  ///< of Program::remotes
  std::uint32_t number = 0;     ///< of the operation in the schedule; not compared when states are
  Part next = Part::kReadOperand;
  Integer operand;  ///< once read
  Integer swap;     ///< once read
  Integer result;   ///< once the target's memory was read
};

struct State {
  std::vector<std::uint32_t> at;  ///< location of each process
  std::vector<Integer> shared;
  std::vector<Integer> locals;
  std::vector<PendingOperation> pending;  ///< in the order of issue
  std::uint32_t issued = 0;               ///< operations so far
};

/// The violation in a step or a state.
struct Broken {
  std::optional<std::uint32_t> property;  ///< of Program::properties; else an assertion in a process
  Place place;
  std::string text;  ///< `assert final (r != 3)`
};

class Semantics {
 public:
  /// The program outlives this.
  Semantics(const Program& program, FlushMask flushes, Network network);

  [[nodiscard]] State initial() const;
  /// All steps that a state has: processes in their order, then operations in the order of issue.
  [[nodiscard]] std::vector<Step> steps(const State& state) const;
  /// Nothing when the step can be taken, else why it cannot, in words.
  [[nodiscard]] std::optional<std::string> obstacle(const State& state, const Step& step) const;
  /// The state after a step that can be taken.
  [[nodiscard]] State after(const State& state, const Step& step) const;
  /// The assertion that a step of a process makes and that is false, or that may be (`*`).
  [[nodiscard]] std::optional<Broken> broken_by(const State& state, const Step& step) const;
  /// The first property that does not hold in this state.
  [[nodiscard]] std::optional<Broken> broken_in(const State& state) const;
  [[nodiscard]] bool ended(const State& state) const { return all_ended(*program_, state.at); }
  [[nodiscard]] Integer value_of(const State& state, const Expression& expression) const {
    return value(state, expression);
  }

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const FlushMask& flushes() const { return flushes_; }
  [[nodiscard]] Network network() const { return network_; }

 private:
  [[nodiscard]] std::optional<std::string> cpu_obstacle(const State& state, const Step& step) const;
  [[nodiscard]] std::optional<std::string> nic_obstacle(const State& state, const Step& step) const;
  [[nodiscard]] Integer value(const State& state, const Expression& expression) const;
  void do_edge(State& state, const Edge& edge, std::uint32_t choice) const;
  void go_on(State& state, PendingOperation& operation) const;

  const Program* program_;
  FlushMask flushes_;
  Network network_;
};

/// Whether the target's part of `later` waits for that of `earlier`, which the same process issued before.
[[nodiscard]] bool ordered(Network network, const RemoteStatement& earlier, const RemoteStatement& later);

}  // namespace loco::verify
