#include "verify/semantics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace loco::verify {

Part first_part(RemoteKind kind) { return kind == RemoteKind::kGet ? Part::kTarget : Part::kReadOperand; }

Part part_after(RemoteKind kind, Part part) {
  switch (part) {
    case Part::kReadOperand:
      return kind == RemoteKind::kCas ? Part::kReadSwap : Part::kTarget;
    case Part::kReadSwap:
      return Part::kTarget;
    case Part::kTarget:
      return kind == RemoteKind::kPut ? Part::kDone : Part::kWriteResult;
    default:
      return Part::kDone;
  }
}

bool all_ended(const Program& program, const std::vector<std::uint32_t>& at) {
  for (std::size_t p = 0; p < at.size(); ++p) {
    if (at[p] != program.processes[p].exit) return false;
  }
  return true;
}

bool ordered(Network network, const RemoteStatement& earlier, const RemoteStatement& later) {
  if (earlier.process != later.process || earlier.target != later.target || later.target == later.process) return false;
  if (network == Network::kInOrder) return true;
  const bool alike = earlier.kind == later.kind && (later.kind == RemoteKind::kPut || later.kind == RemoteKind::kGet);
  return network == Network::kVerbs && alike;
}

Semantics::Semantics(const Program& program, FlushMask flushes, Network network)
    : program_(&program), flushes_(std::move(flushes)), network_(network) {}

State Semantics::initial() const {
  return first_state<State>(*program_, [](const Integer& initial) { return initial; });
}

Integer Semantics::value(const State& state, const Expression& expression) const {
  return evaluate(expression, [&](const ExpressionNode& node) { return leaf_value(*program_, state, node); });
}

std::optional<Broken> Semantics::broken_in(const State& state) const {
  for (std::uint32_t i = 0; i < program_->properties.size(); ++i) {
    const Property& property = program_->properties[i];
    const bool final = property.kind == PropertyKind::kFinal;
    if ((final && !ended(state)) || value(state, property.expression) != 0) continue;
    return Broken{i, property.place,
                  fmt::format("assert {} ({})", final ? "final" : "always", property.expression.text)};
  }
  return std::nullopt;
}

std::optional<Broken> Semantics::broken_by(const State& state, const Step& step) const {
  if (step.kind != Step::Kind::kCpu) return std::nullopt;
  const Edge& edge = program_->processes.at(step.process).edges.at(step.edge);
  const Action& action = edge.action;
  if (action.kind != ActionKind::kAssert) return std::nullopt;
  if (action.expression && value(state, *action.expression) != 0) return std::nullopt;
  return Broken{std::nullopt, edge.place, edge.text};
}

std::optional<std::string> Semantics::cpu_obstacle(const State& state, const Step& step) const {
  if (step.process >= program_->processes.size()) return "there is no such process";
  const Process& process = program_->processes[step.process];
  if (step.edge >= process.edges.size()) return "there is no such statement";
  const Edge& edge = process.edges[step.edge];
  const Action& action = edge.action;
  if (state.at.at(step.process) != edge.from) return "the process does not stand before that statement";
  if (action.kind == ActionKind::kChoose && step.choice >= action.choices.size()) return "there is no such choice";
  if (action.kind == ActionKind::kAssume && action.expression &&
      (value(state, *action.expression) != 0) == action.negated)
    return "the condition does not hold";
  if (action.kind == ActionKind::kFlush && flushes_.at(action.flush)) {
    const FlushStatement& flush = program_->flushes[action.flush];
    for (const PendingOperation& o : state.pending) {
      const RemoteStatement& statement = program_->remotes[o.statement];
      if (awaits(flush, statement)) return fmt::format("{} is still pending", statement.text);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Semantics::nic_obstacle(const State& state, const Step& step) const {
  const auto operation = std::find_if(state.pending.begin(), state.pending.end(),
                                      [&](const PendingOperation& o) { return o.number == step.operation; });
  if (operation == state.pending.end()) return "no such operation is pending";
  if (operation->next != Part::kTarget) return std::nullopt;
  const RemoteStatement& later = program_->remotes[operation->statement];
  for (auto o = state.pending.begin(); o != operation; ++o) {
    const RemoteStatement& earlier = program_->remotes[o->statement];
    if (o->next <= Part::kTarget && ordered(network_, earlier, later))
      return fmt::format("{} was issued before it and has not reached its target", earlier.text);
  }
  return std::nullopt;
}

std::optional<std::string> Semantics::obstacle(const State& state, const Step& step) const {
  return step.kind == Step::Kind::kCpu ? cpu_obstacle(state, step) : nic_obstacle(state, step);
}

std::vector<Step> Semantics::steps(const State& state) const {
  std::vector<Step> result;
  const auto add = [&](const Step& step) {
    if (!obstacle(state, step)) result.push_back(step);
  };
  for (std::uint32_t p = 0; p < state.at.size(); ++p) {
    const Process& process = program_->processes[p];
    for (const std::uint32_t e : process.locations[state.at[p]].edges) {
      const auto choices = std::max<std::size_t>(process.edges[e].action.choices.size(), 1);
      for (std::uint32_t c = 0; c < choices; ++c) add({Step::Kind::kCpu, p, e, c, 0});
    }
  }
  for (const PendingOperation& o : state.pending) add({Step::Kind::kNic, 0, 0, 0, o.number});
  return result;
}

/// One part of an operation.
void Semantics::go_on(State& state, PendingOperation& o) const {
  do_part(state, o, program_->remotes[o.statement], [](const Integer& a, const Integer& b) { return a + b; });
}

void Semantics::do_edge(State& state, const Edge& edge, std::uint32_t choice) const {
  const Action& action = edge.action;
  switch (action.kind) {
    case ActionKind::kAssign:
      state.locals[action.local] = value(state, action.expression.value());
      break;
    case ActionKind::kChoose:
      state.locals[action.local] = action.choices.at(choice);
      break;
    case ActionKind::kLoad:
      state.locals[action.local] = state.shared[action.shared];
      break;
    case ActionKind::kStore:
      state.shared[action.shared] = value(state, action.expression.value());
      break;
    case ActionKind::kRemote: {
      PendingOperation operation;
      operation.statement = action.remote;
      operation.number = state.issued++;
      operation.next = first_part(program_->remotes[action.remote].kind);
      if (network_ == Network::kSc) {
        while (operation.next != Part::kDone) go_on(state, operation);
      } else {
        state.pending.push_back(operation);
      }
      break;
    }
    case ActionKind::kSkip:
    case ActionKind::kFlush:
    case ActionKind::kAssume:
    case ActionKind::kAssert:
      break;
  }
}

State Semantics::after(const State& before, const Step& step) const {
  State state = before;
  if (step.kind == Step::Kind::kCpu) {
    const Edge& edge = program_->processes.at(step.process).edges.at(step.edge);
    do_edge(state, edge, step.choice);
    state.at[step.process] = edge.to;
    return state;
  }
  for (auto o = state.pending.begin(); o != state.pending.end(); ++o) {
    if (o->number != step.operation) continue;
    go_on(state, *o);
    if (o->next == Part::kDone) state.pending.erase(o);
    break;
  }
  return state;
}

}  // namespace loco::verify
