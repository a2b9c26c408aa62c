#include <algorithm>
#include <utility>

#include "verify/abstract/search.hpp"

namespace loco::verify::abstract {

Stepper::Stepper(Abstraction& abstraction, const FlushMask& flushes, const Caps& caps, const Limits& limits)
    : abstraction_(&abstraction), flushes_(&flushes), caps_(&caps), limits_(&limits) {
  const Reduced& reduced = abstraction.reduced();
  for (const CpuStep& s : reduced.cpu) cpu_.push_back(abstraction.transformer(s.command));
  for (const NicStep& s : reduced.nic) nic_.push_back(abstraction.transformer(s.command));
  const Footprint footprint(reduced, flushes);
  for (std::uint32_t f = 0; f < reduced.program->flushes.size(); ++f) waits_.push_back(footprint.waits(f));
  const auto dead = [&](const Linear& predicate, std::uint32_t p, const std::vector<bool>& live) {
    return std::any_of(predicate.terms.begin(), predicate.terms.end(), [&](const Term& t) {
      const bool local = t.variable >= reduced.local(0) && t.variable < reduced.memory_end();
      return local && reduced.program->locals[t.variable - reduced.local(0)].process == p && !live[t.variable];
    });
  };
  const auto live = live_locals(reduced);
  for (std::uint32_t p = 0; p < live.size(); ++p) {
    relevant_.emplace_back();
    relevant_elements_.emplace_back();
    for (const std::vector<bool>& here : live[p]) {
      MemoryBits bits{};
      const auto& memory = abstraction.predicates().memory;
      for (std::size_t i = 0; i < memory.size(); ++i) set_bit(bits, i, !dead(memory[i], p, here));
      relevant_.back().push_back(bits);
      relevant_elements_.back().emplace_back();
      for (const auto& predicates : abstraction.predicates().elements) {
        ElementBits mask = 0;
        for (std::size_t i = 0; i < predicates.size(); ++i) {
          if (!dead(predicates[i], p, here)) mask |= ElementBits{1} << i;
        }
        relevant_elements_.back().back().push_back(mask);
      }
    }
  }
}

MemoryBits Stepper::relevant(const AbstractState& state) const {
  MemoryBits bits = relevant_[0][state.at[0]];
  for (std::size_t p = 1; p < state.at.size(); ++p) {
    for (std::size_t w = 0; w < bits.size(); ++w) bits[w] &= relevant_[p][state.at[p]][w];
  }
  return bits;
}

ElementBits Stepper::relevant(const AbstractState& state, std::uint32_t operand) const {
  ElementBits bits = ~ElementBits{0};
  for (std::size_t p = 0; p < state.at.size(); ++p) bits &= relevant_elements_[p][state.at[p]][operand];
  return bits;
}

bool Stepper::stands(const AbstractState& state, const Violation& violation) const {
  if (violation.final && !ended(state)) return false;
  const std::vector<Standing>& places = violation.where.standing;
  return std::all_of(places.begin(), places.end(),
                     [&](const Standing& s) { return (state.at[s.process] == s.location) == s.there; });
}

AbstractState Stepper::initial() {
  const Reduced& reduced = abstraction_->reduced();
  AbstractState state;
  for (const Process& p : reduced.program->processes) state.at.push_back(p.entry);
  state.held.assign(reduced.channels.size(), 0);
  state.behind.assign(reduced.ordered.size(), false);
  state.sets.resize(abstraction_->operands());
  state.memory = abstraction_->initial(relevant(state));
  return state;
}

void Stepper::apply(const AbstractState& state, AbstractState after, Which step, const std::vector<Pick>& picks,
                    const std::vector<Transformer::Capture>& captures, const Emit& emit) {
  const Transformer& transformer = step.nic ? nic_[step.number] : cpu_[step.number];
  const Command& command =
      step.nic ? abstraction_->reduced().nic[step.number].command : abstraction_->reduced().cpu[step.number].command;
  Facts facts = abstraction_->facts(state.memory);
  for (const Pick& pick : picks) {
    if (!abstraction_->assume(facts, pick)) return;
  }
  for (const Linear& guard : transformer.guards) {
    if (!facts.assume(guard)) return;
  }
  const Reduced& reduced = abstraction_->reduced();
  after.memory = abstraction_->after(facts, transformer.memory, state.memory, relevant(after));
  for (std::uint32_t c = 0; c < reduced.channels.size(); ++c) {
    const std::uint32_t first = abstraction_->first_operand(c);
    for (std::uint32_t o = first; o < first + reduced.channels[c].operands.size(); ++o) {
      ElementSet& set = after.sets[o];
      set.clear();
      if (after.held[c] == 0) continue;
      const ElementBits now = relevant(after, o);
      for (const ElementCube& element : state.sets[o]) {
        if (const auto next = abstraction_->after(facts, o, transformer.elements[o], element, now))
          set.push_back(*next);
      }
      const auto add = [&](const Transformer::Capture& capture) {
        if (capture.operand == o) set.push_back(abstraction_->capture(facts, o, capture.value, command, now));
      };
      // A set of an empty channel is empty: the captured value is then one that the step itself adds.
      if (state.held[c] > 0) std::for_each(transformer.captures.begin(), transformer.captures.end(), add);
      std::for_each(captures.begin(), captures.end(), add);
      if (set.empty()) return;  // no number fits: there is no such state
      normalise(set);
    }
  }
  emit(after, picks);
}

void Stepper::cpu(const AbstractState& state, std::uint32_t number, const Emit& emit) {
  const Reduced& reduced = abstraction_->reduced();
  limits_->tick();
  const CpuStep& step = reduced.cpu[number];
  if (step.fails) return;
  if (step.flush && (*flushes_)[*step.flush]) {
    for (std::size_t c = 0; c < state.held.size(); ++c) {
      if (state.held[c] > 0 && waits_[*step.flush][c]) return;
    }
  }
  AbstractState after = state;
  after.at[step.process] = step.to;
  std::vector<Transformer::Capture> captures;
  if (step.issues) {
    const std::uint32_t c = *step.issues;
    for (std::size_t i = 0; i < reduced.ordered.size(); ++i) {
      const auto& [first, second] = reduced.ordered[i];
      if (second == c && state.held[c] == 0) after.behind[i] = state.held[first] > 0;
    }
    after.held[c] = std::min<std::uint8_t>(static_cast<std::uint8_t>(state.held[c] + 1), (*caps_)[c]);
    for (std::uint32_t i = 0; i < reduced.channels[c].operands.size(); ++i)
      captures.push_back({abstraction_->first_operand(c) + i, Linear::of(reduced.channels[c].operands[i].source)});
  }
  apply(state, std::move(after), {false, number}, {}, captures, emit);
}

void Stepper::take_out(const AbstractState& state, std::uint32_t number, const std::vector<Pick>& picks,
                       const Emit& emit) {
  limits_->tick();
  const Reduced& reduced = abstraction_->reduced();
  const NicStep& step = reduced.nic[number];
  const std::uint32_t c = step.channel;
  std::vector<Transformer::Capture> captures;
  AbstractState after = state;
  if (step.result) {
    const std::uint32_t next = reduced.channels[c].next.value();
    after.held[next] = std::min<std::uint8_t>(static_cast<std::uint8_t>(state.held[next] + 1), (*caps_)[next]);
    captures.push_back({abstraction_->first_operand(next), *step.result});
  }
  const auto leave = [&](std::uint8_t left) {
    AbstractState then = after;
    then.held[c] = left;
    for (std::size_t i = 0; i < reduced.ordered.size(); ++i) {
      // Operations of the first that stay may have been issued after the second.
      if (reduced.ordered[i].first == c || (reduced.ordered[i].second == c && left == 0)) then.behind[i] = false;
    }
    apply(state, std::move(then), {true, number}, picks, captures, emit);
  };
  leave(static_cast<std::uint8_t>(state.held[c] - 1));
  if (state.held[c] == (*caps_)[c]) leave(state.held[c]);
}

void Stepper::nic(const AbstractState& state, std::uint32_t number, const Emit& emit) {
  const Reduced& reduced = abstraction_->reduced();
  const std::uint32_t c = reduced.nic[number].channel;
  if (state.held[c] == 0) return;
  for (std::size_t i = 0; i < reduced.ordered.size(); ++i) {
    if (reduced.ordered[i].second == c && state.behind[i]) return;
  }
  const std::uint32_t first = abstraction_->first_operand(c);
  const std::size_t count = reduced.channels[c].operands.size();
  if (count == 0) return take_out(state, number, {}, emit);
  for (const ElementCube& a : state.sets[first]) {
    if (count == 1) {
      take_out(state, number, {{first, a}}, emit);
      continue;
    }
    for (const ElementCube& b : state.sets[first + 1]) take_out(state, number, {{first, a}, {first + 1, b}}, emit);
  }
}

bool Stepper::may_fail(const AbstractState& state, std::uint32_t number) {
  const CpuStep& step = abstraction_->reduced().cpu[number];
  if (!step.fails) return false;
  Facts facts = abstraction_->facts(state.memory);
  return std::all_of(step.command.guards.begin(), step.command.guards.end(),
                     [&](const Linear& guard) { return facts.assume(guard); });
}

bool Stepper::may_violate(const AbstractState& state, std::uint32_t number) {
  const Violation& violation = abstraction_->reduced().violations[number];
  if (!stands(state, violation)) return false;
  Facts facts = abstraction_->facts(state.memory);
  return std::all_of(violation.where.atoms.begin(), violation.where.atoms.end(),
                     [&](const Linear& atom) { return facts.assume(atom); });
}

}  // namespace loco::verify::abstract
