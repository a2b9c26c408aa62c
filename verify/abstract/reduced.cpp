#include "verify/abstract/reduced.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "verify/constants.hpp"
#include "verify/semantics.hpp"

namespace loco::verify::abstract {

namespace {

/// `a = b` as two atoms.
void equal(std::vector<Linear>& guards, const Linear& a, const Linear& b) {
  guards.push_back(minus(a, b));
  guards.push_back(minus(b, a));
}

/// `in(...)` as the places where the process may stand.
Expression without_in(const Program& program, const Expression& expression) {
  Expression result;
  result.text = expression.text;
  for (const ExpressionNode& node : expression.nodes) {
    if (node.op != Operator::kIn) {
      result.nodes.push_back(node);
      continue;
    }
    const std::vector<bool>& inside = program.processes[node.index].labels[node.location].inside;
    bool first = true;
    for (std::uint32_t l = 0; l < inside.size(); ++l) {
      if (!inside[l]) continue;
      result.nodes.push_back({Operator::kAt, 0, node.index, l});
      if (!first) result.nodes.push_back({Operator::kOr, 0, 0, 0});
      first = false;
    }
  }
  return result;
}

class Reducer {
 public:
  Reducer(const Program& program, Network network) : program_(program) {
    reduced_.program = &program;
    reduced_.network = network;
    reduced_.variables = reduced_.memory_end();
  }

  Reduced run() {
    for (const SharedVariable& v : program_.shared) reduced_.initial.push_back(to_number(v.initial));
    for (const LocalVariable& v : program_.locals) reduced_.initial.push_back(to_number(v.initial));
    find_fixed();
    if (reduced_.network != Network::kSc) {
      for (std::uint32_t r = 0; r < program_.remotes.size(); ++r) channels_of(r);
      order_channels();
    }
    reduced_.anything = reduced_.variables++;
    reduced_.other = reduced_.variables++;
    for (std::uint32_t p = 0; p < program_.processes.size(); ++p) process(p);
    for (std::uint32_t i = 0; i < program_.properties.size(); ++i) property(i);
    for (CpuStep& step : reduced_.cpu) leave_out_fixed(step.command);
    for (NicStep& step : reduced_.nic) leave_out_fixed(step.command);
    return std::move(reduced_);
  }

 private:
  void find_fixed() {
    const Constants constants(program_);
    reduced_.fixed.assign(reduced_.memory_end(), true);
    for (std::uint32_t v = 0; v < program_.shared.size(); ++v) reduced_.fixed[reduced_.shared(v)] = constants.shared[v];
    for (std::uint32_t l = 0; l < program_.locals.size(); ++l) reduced_.fixed[reduced_.local(l)] = constants.locals[l];
  }

  /// Writes to constants change nothing.
  void leave_out_fixed(Command& command) const {
    std::erase_if(command.assignments, [&](const Assignment& a) { return reduced_.fixed[a.target]; });
  }

  Naming naming() const {
    return [this](const ExpressionNode& node) {
      return reduced_.value(node.op == Operator::kShared ? reduced_.shared(node.index) : reduced_.local(node.index));
    };
  }

  // -- channels

  std::uint32_t channel(std::uint32_t remote, bool results, const std::vector<Variable>& sources, Variable target) {
    Channel c;
    c.remote = remote;
    c.results = results;
    c.target = target;
    std::vector<Linear> taken;
    for (const Variable source : sources) {
      const bool needs_set = source == kZero || !reduced_.fixed[source];
      if (source != kZero) c.reads.emplace_back();
      if (needs_set && source != kZero) c.reads.back() = static_cast<std::uint32_t>(c.operands.size());
      if (needs_set) c.operands.push_back({source, reduced_.variables++});
      taken.push_back(needs_set ? Linear::of(c.operands.back().element) : reduced_.value(source));
    }
    reduced_.channels.push_back(std::move(c));
    taken_.push_back(std::move(taken));
    return static_cast<std::uint32_t>(reduced_.channels.size() - 1);
  }

  void leaves(std::uint32_t channel, std::vector<Linear> guards, std::vector<Assignment> assignments,
              std::optional<Linear> result) {
    reduced_.nic.push_back({channel, {std::move(guards), std::move(assignments)}, std::move(result)});
  }

  void channels_of(std::uint32_t r) {
    const RemoteStatement& s = program_.remotes[r];
    const Variable remote = reduced_.shared(s.remote);
    const bool get_in_order = s.kind == RemoteKind::kGet && reduced_.network != Network::kUnordered;
    std::vector<Variable> sources;
    if (s.kind == RemoteKind::kGet && !get_in_order) sources = {remote};
    if (s.operand) sources.push_back(reduced_.shared(*s.operand));
    if (s.swap) sources.push_back(reduced_.shared(*s.swap));
    if (s.kind == RemoteKind::kPut || (s.kind == RemoteKind::kGet && !get_in_order)) {
      const Variable target = s.result ? reduced_.shared(*s.result) : remote;
      const std::uint32_t requests = channel(r, false, sources, target);
      leaves(requests, {}, {{target, element(requests, 0)}}, std::nullopt);
      return;
    }
    const std::uint32_t requests = channel(r, false, sources, get_in_order ? kZero : remote);
    const Variable result = reduced_.shared(s.result.value());
    const std::uint32_t results = channel(r, true, {kZero}, result);
    reduced_.channels[requests].next = results;
    reach_target(s.kind, requests, remote);
    leaves(results, {}, {{result, element(results, 0)}}, std::nullopt);
  }

  Linear element(std::uint32_t channel, std::size_t operand) const { return taken_[channel].at(operand); }

  /// The part of an operation that touches the target's memory and takes a value back.
  void reach_target(RemoteKind kind, std::uint32_t requests, Variable target) {
    const Linear remote = reduced_.value(target);
    if (kind == RemoteKind::kGet) return leaves(requests, {}, {}, remote);
    const Linear operand = element(requests, 0);
    if (kind == RemoteKind::kRga) return leaves(requests, {}, {{target, plus(remote, operand)}}, remote);
    std::vector<Linear> same;
    equal(same, remote, operand);
    leaves(requests, same, {{target, element(requests, 1)}}, remote);
    leaves(requests, {plus(minus(remote, operand), Linear::of_constant(1))}, {}, remote);
    leaves(requests, {plus(minus(operand, remote), Linear::of_constant(1))}, {}, remote);
  }

  void order_channels() {
    for (std::uint32_t a = 0; a < reduced_.channels.size(); ++a) {
      for (std::uint32_t b = 0; b < reduced_.channels.size(); ++b) {
        const Channel& first = reduced_.channels[a];
        const Channel& second = reduced_.channels[b];
        if (a == b || first.results || second.results) continue;
        if (ordered(reduced_.network, program_.remotes[first.remote], program_.remotes[second.remote]))
          reduced_.ordered.emplace_back(a, b);
      }
    }
  }

  // -- processes

  void process(std::uint32_t p) {
    const Process& process = program_.processes[p];
    reduced_.steps_at.emplace_back(process.locations.size());
    for (std::uint32_t e = 0; e < process.edges.size(); ++e) {
      CpuStep step;
      step.process = p;
      step.edge = e;
      step.from = process.edges[e].from;
      step.to = process.edges[e].to;
      edge(process.edges[e].action, step);
    }
  }

  void emit(CpuStep step) {
    reduced_.steps_at[step.process][step.from].push_back(static_cast<std::uint32_t>(reduced_.cpu.size()));
    reduced_.cpu.push_back(std::move(step));
  }

  void emit_where(CpuStep step, const Expression& expression, bool negated) {
    for (const Conjunction& c : where_true(expression, negated, naming())) {
      step.command.guards = c.atoms;
      emit(step);
    }
  }

  void emit_assignment(CpuStep step, Variable target, const Expression& expression) {
    for (const Case& c : values(expression, naming())) {
      step.command.guards = c.condition.atoms;
      step.command.assignments = {{target, c.value}};
      emit(step);
    }
  }

  void edge(const verify::Action& action, CpuStep step) {
    switch (action.kind) {
      case ActionKind::kSkip:
        return emit(std::move(step));
      case ActionKind::kFlush:
        if (reduced_.network != Network::kSc) step.flush = action.flush;
        return emit(std::move(step));
      case ActionKind::kAssign:
        return emit_assignment(std::move(step), reduced_.local(action.local), action.expression.value());
      case ActionKind::kStore:
        return emit_assignment(std::move(step), reduced_.shared(action.shared), action.expression.value());
      case ActionKind::kLoad:
        step.command.assignments = {{reduced_.local(action.local), reduced_.value(reduced_.shared(action.shared))}};
        return emit(std::move(step));
      case ActionKind::kChoose:
        for (std::uint32_t c = 0; c < action.choices.size(); ++c) {
          step.choice = c;
          step.command.assignments = {
              {reduced_.local(action.local), Linear::of_constant(to_number(action.choices[c]))}};
          emit(step);
        }
        return;
      case ActionKind::kRemote:
        return remote(action.remote, std::move(step));
      case ActionKind::kAssume:
        if (!action.expression) return emit(std::move(step));
        return emit_where(std::move(step), *action.expression, action.negated);
      case ActionKind::kAssert:
        return assertion(action, std::move(step));
    }
  }

  void assertion(const verify::Action& action, CpuStep step) {
    CpuStep failing = step;
    failing.fails = true;
    if (action.expression) {
      emit_where(std::move(step), *action.expression, false);
      emit_where(std::move(failing), *action.expression, true);
    } else {
      emit(std::move(step));
      emit(std::move(failing));
    }
  }

  void remote(std::uint32_t r, CpuStep step) {
    if (reduced_.network != Network::kSc) {
      for (std::uint32_t c = 0; c < reduced_.channels.size(); ++c) {
        if (reduced_.channels[c].remote == r && !reduced_.channels[c].results) step.issues = c;
      }
      return emit(std::move(step));
    }
    const RemoteStatement& s = program_.remotes[r];
    const Variable target = reduced_.shared(s.remote);
    const Linear remote = reduced_.value(target);
    const auto variable = [&](const std::optional<std::uint32_t>& v) {
      return reduced_.value(reduced_.shared(v.value()));
    };
    // The result is written last: where it is the remote variable itself, only that shows.
    const auto emit_with = [&](std::vector<Linear> guards, std::optional<Linear> written) {
      step.command.guards = std::move(guards);
      step.command.assignments.clear();
      const bool hidden = s.result && *s.result == s.remote;
      if (written && !hidden) step.command.assignments.push_back({target, written});
      if (s.result && !hidden) step.command.assignments.push_back({reduced_.shared(*s.result), remote});
      emit(step);
    };
    if (s.kind == RemoteKind::kPut) return emit_with({}, variable(s.operand));
    if (s.kind == RemoteKind::kGet) return emit_with({}, std::nullopt);
    const Linear operand = variable(s.operand);
    if (s.kind == RemoteKind::kRga) return emit_with({}, plus(remote, operand));
    std::vector<Linear> same;
    equal(same, remote, operand);
    emit_with(same, variable(s.swap));
    emit_with({plus(minus(remote, operand), Linear::of_constant(1))}, std::nullopt);
    emit_with({plus(minus(operand, remote), Linear::of_constant(1))}, std::nullopt);
  }

  void property(std::uint32_t i) {
    const Property& p = program_.properties[i];
    for (Conjunction& c : where_true(without_in(program_, p.expression), true, naming()))
      reduced_.violations.push_back({i, p.kind == PropertyKind::kFinal, std::move(c)});
  }

  const Program& program_;
  Reduced reduced_;
  std::vector<std::vector<Linear>> taken_;  ///< [channel]: values an operation has read, by operand of the statement
};

}  // namespace

const Linear* assigned(const Command& command, Variable v, const Linear& anything) {
  for (const Assignment& a : command.assignments) {
    if (a.target == v) return a.value ? &*a.value : &anything;
  }
  return nullptr;
}

bool changes(const Command& command, const Linear& atom) {
  return std::any_of(command.assignments.begin(), command.assignments.end(),
                     [&](const Assignment& a) { return atom.mentions(a.target); });
}

std::pair<std::uint32_t, std::uint32_t> Reduced::place_of(Variable element) const {
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    for (std::uint32_t o = 0; o < channels[c].operands.size(); ++o) {
      if (channels[c].operands[o].element == element) return {c, o};
    }
  }
  return {0, 0};
}

std::string Reduced::name(Variable v) const {
  if (v == kZero) return "0";
  if (v == anything || v == other) return "*";
  if (v < local(0)) return program->shared[v - 1].name;
  if (v < memory_end()) return local_name(*program, v - local(0));
  const auto [c, o] = place_of(v);
  return fmt::format("{}[{}{}]", channels[c].results ? "result" : name(channels[c].operands[o].source),
                     program->remotes[channels[c].remote].text, channels[c].remote);
}

Reduced reduce(const Program& program, Network network) { return Reducer(program, network).run(); }

}  // namespace loco::verify::abstract
