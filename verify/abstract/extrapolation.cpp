#include "verify/abstract/extrapolation.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace loco::verify::abstract {

namespace {

bool reads(const Command& command, Variable v) {
  return std::any_of(command.guards.begin(), command.guards.end(), [&](const Linear& g) { return g.mentions(v); }) ||
         std::any_of(command.assignments.begin(), command.assignments.end(),
                     [&](const Assignment& a) { return a.value && a.value->mentions(v); });
}

bool writes(const Command& command, Variable v) {
  return std::any_of(command.assignments.begin(), command.assignments.end(),
                     [&](const Assignment& a) { return a.target == v; });
}

void know(MemoryCube& cube, std::uint32_t p, Truth truth) {
  set_bit(cube.known, p, truth != Truth::kUnknown);
  set_bit(cube.value, p, truth == Truth::kTrue);
}

/// The literals that both have.
ElementCube joined(const ElementCube& a, const ElementCube& b) {
  const ElementBits known = a.known & b.known & ~(a.value ^ b.value);
  return {known, a.value & known};
}

std::vector<std::vector<std::uint32_t>> over_sets(const Reduced& reduced, const std::vector<Linear>& predicates,
                                                  std::vector<Variable>& collects) {
  std::vector<std::vector<std::uint32_t>> result;
  for (std::uint32_t c = 0; c < reduced.channels.size(); ++c) {
    for (std::uint32_t o = 0; o < reduced.channels[c].operands.size(); ++o) {
      collects.push_back(collected(reduced, c, o));
      result.emplace_back();
      for (std::uint32_t p = 0; p < predicates.size(); ++p) {
        if (predicates[p].mentions(collects.back())) result.back().push_back(p);
      }
      if (result.back().size() > kElementPredicatesMax) throw TooManyPredicates();
    }
  }
  return result;
}

}  // namespace

Predicates extrapolated(const Reduced& reduced, const std::vector<Linear>& predicates) {
  if (predicates.size() > kMemoryPredicatesMax) throw TooManyPredicates();
  Predicates result;
  result.memory = predicates;
  std::vector<Variable> collects;
  const auto over = over_sets(reduced, predicates, collects);
  std::uint32_t operand = 0;
  for (const Channel& c : reduced.channels) {
    for (const Operand& o : c.operands) {
      const Linear element = Linear::of(o.element);
      result.elements.emplace_back();
      for (const std::uint32_t p : over[operand]) {
        result.elements.back().push_back(
            substitute(predicates[p], [&](Variable v) { return v == collects[operand] ? &element : nullptr; }));
      }
      ++operand;
    }
  }
  return result;
}

ExtrapolatedStepper::ExtrapolatedStepper(Abstraction& abstraction, const BooleanProgram& program,
                                         const FlushMask& flushes, const Caps& caps, const Limits& limits)
    : Stepper(abstraction, flushes, caps, limits), reduced_(&abstraction.reduced()), program_(&program) {
  over_ = over_sets(*reduced_, program.predicates, collects_);
}

Truth ExtrapolatedStepper::literal(const View& view, std::uint32_t p) const {
  const Pick* taken = nullptr;
  for (const Pick& pick : *view.picks) {
    if (!program_->predicates[p].mentions(collects_[pick.operand])) continue;
    if (taken != nullptr) return Truth::kUnknown;  // of two sets: not tracked
    taken = &pick;
  }
  if (taken == nullptr) {
    if (!bit(view.state->memory.known, p)) return Truth::kUnknown;
    return bit(view.state->memory.value, p) ? Truth::kTrue : Truth::kFalse;
  }
  const auto& over = over_[taken->operand];
  const auto i = static_cast<std::size_t>(std::find(over.begin(), over.end(), p) - over.begin());
  if ((taken->element.known >> i & 1U) == 0) return Truth::kUnknown;
  return (taken->element.value >> i & 1U) != 0 ? Truth::kTrue : Truth::kFalse;
}

/// Whether some cube is true for sure.
bool ExtrapolatedStepper::any(const View& view, const Cubes& cubes) const {
  return std::any_of(cubes.begin(), cubes.end(), [&](const Cube& cube) {
    return std::all_of(cube.begin(), cube.end(), [&](std::int32_t l) {
      return literal(view, static_cast<std::uint32_t>(std::abs(l)) - 1) == (l > 0 ? Truth::kTrue : Truth::kFalse);
    });
  });
}

Truth ExtrapolatedStepper::value(const View& view, const BooleanAssignment& assignment) const {
  if (any(view, assignment.holds)) return Truth::kTrue;
  return any(view, assignment.fails) ? Truth::kFalse : Truth::kUnknown;
}

bool ExtrapolatedStepper::may_fail(const AbstractState& state, std::uint32_t step) {
  const std::vector<Pick> none;
  return reduced_->cpu[step].fails && !any({&state, &none}, program_->cpu[step].blocked);
}

bool ExtrapolatedStepper::may_violate(const AbstractState& state, std::uint32_t number) {
  if (!stands(state, reduced_->violations[number])) return false;
  const std::vector<Pick> none;
  return !any({&state, &none}, program_->impossible[number]);
}

/// {X}: the predicates known of the variable.
ElementCube ExtrapolatedStepper::captured(const MemoryCube& memory, std::uint32_t operand) const {
  ElementCube result;
  for (std::size_t i = 0; i < over_[operand].size(); ++i) {
    if (!bit(memory.known, over_[operand][i])) continue;
    result.known |= ElementBits{1} << i;
    if (bit(memory.value, over_[operand][i])) result.value |= ElementBits{1} << i;
  }
  return result;
}

/// A set that nothing is added to, after a step that may write what its predicates compare with.
ElementCube ExtrapolatedStepper::kept(const AbstractState& state, std::uint32_t operand, Which step) const {
  const Variable collects = collects_[operand];
  const Command& command = step.nic ? reduced_->nic[step.number].command : reduced_->cpu[step.number].command;
  ElementCube result = state.sets[operand].front();
  const std::vector<Pick> self{{operand, state.sets[operand].front()}};
  for (std::size_t i = 0; i < over_[operand].size(); ++i) {
    const std::uint32_t p = over_[operand][i];
    const auto& terms = program_->predicates[p].terms;
    const bool compared = std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
      return t.variable != collects && writes(command, t.variable);
    });
    if (!compared) continue;
    Truth truth = Truth::kUnknown;
    // A step that does not touch the variable changes a predicate over an element as it changes the same predicate over
    // the variable.
    if (!step.nic && !reads(command, collects) && !writes(command, collects)) {
      for (const BooleanAssignment& a : program_->cpu[step.number].assignments) {
        if (a.predicate == p) truth = value({&state, &self}, a);
      }
    }
    const ElementBits mask = ElementBits{1} << i;
    result.known = truth == Truth::kUnknown ? result.known & ~mask : result.known | mask;
    result.value = truth == Truth::kTrue ? result.value | mask : result.value & ~mask;
  }
  return result;
}

void ExtrapolatedStepper::apply(const AbstractState& state, AbstractState after, Which step,
                                const std::vector<Pick>& picks, const std::vector<Transformer::Capture>& captures,
                                const Emit& emit) {
  const BooleanStep& boolean = step.nic ? program_->nic[step.number] : program_->cpu[step.number];
  const Command& command = step.nic ? reduced_->nic[step.number].command : reduced_->cpu[step.number].command;
  const View view{&state, &picks};
  if (any(view, boolean.blocked)) return;
  MemoryCube memory = state.memory;
  for (const BooleanAssignment& a : boolean.assignments) {
    const auto& terms = program_->predicates[a.predicate].terms;
    const bool written =
        std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return writes(command, t.variable); });
    // A guard over elements tells nothing of the variables that they come from.
    if (!written && (step.nic || bit(memory.known, a.predicate))) continue;
    // An element is not what its variable is now: a predicate over what is written and that variable gets lost.
    const bool mixed = std::any_of(picks.begin(), picks.end(), [&](const Pick& pick) {
      const Variable collects = collects_[pick.operand];
      return program_->predicates[a.predicate].mentions(collects) && !writes(command, collects);
    });
    know(memory, a.predicate, mixed ? Truth::kUnknown : value(view, a));
  }
  const MemoryBits relevant = this->relevant(after);
  for (std::size_t w = 0; w < relevant.size(); ++w) {
    memory.known[w] &= relevant[w];
    memory.value[w] &= relevant[w];
  }
  after.memory = memory;
  for (std::uint32_t c = 0; c < reduced_->channels.size(); ++c) {
    const std::uint32_t first = abstraction().first_operand(c);
    for (std::uint32_t o = first; o < first + reduced_->channels[c].operands.size(); ++o) {
      after.sets[o].clear();
      if (after.held[c] == 0) continue;
      std::optional<ElementCube> cube;
      const auto add = [&](const ElementCube& more) { cube = cube ? joined(*cube, more) : more; };
      if (state.held[c] > 0) {
        add(kept(state, o, step));
        const Variable source = abstraction().operand(o).source;
        if (source != kZero && writes(command, source)) add(captured(memory, o));
      }
      // Results are values from before the step, operands from after it (it writes none of them).
      for (const Transformer::Capture& capture : captures) {
        if (capture.operand == o) add(captured(reduced_->channels[c].results ? state.memory : memory, o));
      }
      const ElementBits now = Stepper::relevant(after, o);
      after.sets[o].push_back({cube.value().known & now, cube.value().value & now});
    }
  }
  emit(after, picks);
}

std::string reduction_text(const Reduced& reduced) {
  std::string text;
  const auto name = [&](Variable v) { return reduced.name(v); };
  for (std::uint32_t c = 0; c < reduced.channels.size(); ++c) {
    const Channel& channel = reduced.channels[c];
    text += fmt::format("channel {}: {} of {}\n", c, channel.results ? "results" : "requests",
                        reduced.program->remotes[channel.remote].text);
    for (std::uint32_t o = 0; o < channel.operands.size(); ++o)
      text +=
          fmt::format("    set {}: values of {}\n", name(channel.operands[o].element), name(collected(reduced, c, o)));
  }
  const auto command = [&](const Command& what) {
    for (const Linear& guard : what.guards) text += fmt::format("    assume {}\n", to_string(guard, name));
    for (const Assignment& a : what.assignments) {
      Linear value = a.value ? *a.value : Linear::of(reduced.anything);
      std::string sum;
      for (const Term& t : value.terms)
        sum += fmt::format("{}{}{}", sum.empty() ? "" : " + ", t.factor == 1 ? "" : fmt::format("{} * ", t.factor),
                           name(t.variable));
      if (value.constant != 0 || sum.empty()) sum += fmt::format("{}{}", sum.empty() ? "" : " + ", value.constant);
      text += fmt::format("    {} = {}\n", name(a.target), sum);
      for (const Channel& channel : reduced.channels) {
        for (const Operand& o : channel.operands) {
          if (o.source == a.target) text += fmt::format("    if held: add {} to {}\n", name(a.target), name(o.element));
        }
      }
    }
  };
  for (const CpuStep& s : reduced.cpu) {
    const Process& process = reduced.program->processes[s.process];
    text += fmt::format("{} {} -> {}: {}{}\n", process.name(), s.from, s.to, process.edges[s.edge].text,
                        s.fails ? " fails" : "");
    if (s.flush) text += "    wait until the channels to that process hold nothing\n";
    if (s.issues)
      text += fmt::format("    channel {} holds one more; its sets get what their variables are now\n", *s.issues);
    command(s.command);
  }
  for (const NicStep& s : reduced.nic) {
    text += fmt::format("channel {}, when it holds one, loses it:\n", s.channel);
    if (s.result)
      text += fmt::format("    channel {} holds one more, with the value of the remote variable\n",
                          *reduced.channels[s.channel].next);
    command(s.command);
  }
  for (const auto& [first, second] : reduced.ordered)
    text += fmt::format("channel {} waits for channel {}\n", second, first);
  return text;
}

std::string extrapolation_text(const Reduced& reduced, const BooleanProgram& program) {
  const Predicates all = extrapolated(reduced, program.predicates);
  std::string text = fmt::format("{} predicates, of which {} over sets; {} counts of what is pending\n", all.size(),
                                 all.size() - all.memory.size(), reduced.channels.size());
  const auto name = [&](Variable v) { return reduced.name(v); };
  for (std::size_t p = 0; p < all.memory.size(); ++p)
    text += fmt::format("b{} = {}\n", p, to_string(all.memory[p], name));
  for (const auto& list : all.elements) {
    for (const Linear& p : list) text += fmt::format("all of {}\n", to_string(p, name));
  }
  return text + to_text(reduced, program);
}

}  // namespace loco::verify::abstract
