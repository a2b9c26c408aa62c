#include "verify/abstract/predicates.hpp"

#include <algorithm>
#include <utility>

namespace loco::verify::abstract {

namespace {

constexpr std::size_t kFactsMax = 4'000;

/// Of an atom and its negation the one whose first factor is positive.
Linear canonical(const Linear& atom) {
  const Linear tight = tightened(atom);
  return !tight.terms.empty() && tight.terms.front().factor < 0 ? negation(tight) : tight;
}

Linear literal(const Linear& atom, bool value) { return value ? atom : negation(atom); }

bool insert(std::vector<Linear>& atoms, const Linear& atom, std::size_t most) {
  if (std::find(atoms.begin(), atoms.end(), atom) != atoms.end()) return false;
  if (atoms.size() >= most) throw TooManyPredicates();
  atoms.push_back(atom);
  return true;
}

const Linear* assigned(const Command& command, Variable v, const Linear& anything) {
  for (const Assignment& a : command.assignments) {
    if (a.target == v) return a.value ? &*a.value : &anything;
  }
  return nullptr;
}

}  // namespace

namespace {

/// Where a predicate belongs: memory, the operand of its element, or nowhere, when it has several elements.
struct Home {
  bool none = false;
  std::optional<std::uint32_t> operand;
};

Home home(const Reduced& reduced, const Linear& predicate) {
  Home result;
  std::uint32_t operand = 0;
  for (const Channel& c : reduced.channels) {
    for (const Operand& o : c.operands) {
      if (predicate.mentions(o.element)) {
        result.none = result.operand.has_value();
        result.operand = operand;
        if (result.none) return result;
      }
      ++operand;
    }
  }
  return result;
}

}  // namespace

bool Predicates::add(const Reduced& reduced, const Linear& atom) {
  const Linear predicate = canonical(atom);
  const Home where = home(reduced, predicate);
  if (predicate.is_constant() || where.none) return false;
  if (!where.operand) return insert(memory, predicate, kMemoryPredicatesMax);
  elements.resize(std::max<std::size_t>(elements.size(), *where.operand + 1));
  return insert(elements[*where.operand], predicate, kElementPredicatesMax);
}

bool Predicates::contains(const Reduced& reduced, const Linear& atom) const {
  const Linear predicate = canonical(atom);
  const Home where = home(reduced, predicate);
  if (predicate.is_constant()) return true;
  if (where.none || (where.operand && *where.operand >= elements.size())) return false;
  const auto& list = where.operand ? elements[*where.operand] : memory;
  return std::find(list.begin(), list.end(), predicate) != list.end();
}

std::size_t Predicates::size() const {
  std::size_t sum = memory.size();
  for (const auto& e : elements) sum += e.size();
  return sum;
}

void normalise(ElementSet& set) {
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

std::size_t Abstraction::Hash::operator()(const MemoryBits& bits) const {
  std::size_t hash = 0;
  for (const std::uint64_t word : bits) hash = (hash ^ word) * 0x9e3779b97f4a7c15U + (hash >> 29U);
  return hash;
}

Abstraction::Abstraction(const Reduced& reduced, Predicates predicates)
    : reduced_(&reduced), predicates_(std::move(predicates)) {
  for (const Channel& c : reduced.channels) {
    first_operand_.push_back(operands());
    for (const Operand& o : c.operands) operands_.push_back(o);
  }
  predicates_.elements.resize(operands_.size());
  const Linear other = Linear::of(reduced.other);
  for (std::uint32_t o = 0; o < operands(); ++o) {
    others_.emplace_back();
    for (const Linear& p : predicates_.elements[o]) {
      others_.back().push_back(
          substitute(p, [&](Variable v) { return v == operands_[o].element ? &other : nullptr; }));
    }
  }
}

Transformer Abstraction::transformer(const Command& command) const {
  Transformer result;
  result.guards = command.guards;
  const Linear anything = Linear::of(reduced_->anything);
  const auto value = [&](Variable v) { return assigned(command, v, anything); };
  const auto changed = [&](const std::vector<Linear>& predicates) {
    std::vector<Transformer::Changed> list;
    for (std::uint32_t i = 0; i < predicates.size(); ++i) {
      const bool touched = std::any_of(command.assignments.begin(), command.assignments.end(),
                                       [&](const Assignment& a) { return predicates[i].mentions(a.target); });
      if (touched) list.push_back({i, substitute(predicates[i], value)});
    }
    return list;
  };
  result.memory = changed(predicates_.memory);
  for (const auto& predicates : others_) result.elements.push_back(changed(predicates));
  for (std::uint32_t o = 0; o < operands(); ++o) {
    const Linear* written = operands_[o].source == kZero ? nullptr : value(operands_[o].source);
    if (written != nullptr) result.captures.push_back({o, *written});
  }
  return result;
}

const Facts& Abstraction::facts(const MemoryBits& bits, const MemoryBits& relevant) {
  if (facts_count_ > kFactsMax) {
    facts_.clear();
    facts_count_ = 0;
  }
  auto& known = facts_[relevant];
  if (const auto found = known.find(bits); found != known.end()) return found->second;
  Facts facts(reduced_->variables);
  for (std::size_t i = 0; i < predicates_.memory.size(); ++i) {
    if (bit(relevant, i)) facts.assume(literal(predicates_.memory[i], bit(bits, i)));
  }
  ++facts_count_;
  return known.emplace(bits, std::move(facts)).first->second;
}

bool Abstraction::assume(Facts& facts, const Pick& pick, ElementBits relevant) const {
  const auto& predicates = predicates_.elements[pick.operand];
  for (std::size_t i = 0; i < predicates.size(); ++i) {
    if ((relevant >> i & 1U) != 0 && !facts.assume(literal(predicates[i], (pick.bits >> i & 1U) != 0))) return false;
  }
  return true;
}

void Abstraction::memories(const Facts& facts, const std::vector<Transformer::Changed>& changed, const MemoryBits& bits,
                           const MemoryBits& relevant,
                           const std::function<void(const MemoryBits&, const Facts&)>& emit) const {
  MemoryBits start = bits;
  for (std::size_t w = 0; w < start.size(); ++w) start[w] &= relevant[w];
  const std::function<void(std::size_t, const MemoryBits&, const Facts&)> from = [&](std::size_t i,
                                                                                   const MemoryBits& current,
                                                                                   const Facts& known) {
    MemoryBits next = current;
    for (; i < changed.size(); ++i) {
      const std::uint32_t p = changed[i].predicate;
      if (!bit(relevant, p)) continue;
      const Truth truth = known.decide(changed[i].after);
      if (truth != Truth::kUnknown) {
        set_bit(next, p, truth == Truth::kTrue);
        continue;
      }
      for (const bool value : {true, false}) {
        Facts more = known;
        if (!more.assume(literal(changed[i].after, value))) continue;
        set_bit(next, p, value);
        from(i + 1, next, more);
      }
      return;
    }
    emit(next, known);
  };
  from(0, start, facts);
}

void Abstraction::follow(const Facts& facts, std::uint32_t operand, const std::vector<Transformer::Changed>& changed,
                         ElementBits bits, ElementBits relevant_before, ElementBits relevant_after,
                         ElementSet& result) const {
  if (changed.empty()) {
    result.push_back(bits & relevant_after);
    return;
  }
  Facts with_element = facts;
  for (std::size_t i = 0; i < others_[operand].size(); ++i) {
    if ((relevant_before >> i & 1U) == 0) continue;
    if (!with_element.assume(literal(others_[operand][i], (bits >> i & 1U) != 0))) return;
  }
  const std::function<void(std::size_t, ElementBits, const Facts&)> from = [&](std::size_t i, ElementBits current,
                                                                             const Facts& known) {
    for (; i < changed.size(); ++i) {
      const ElementBits mask = ElementBits{1} << changed[i].predicate;
      current &= ~mask;
      if ((relevant_after & mask) == 0) continue;
      const Truth truth = known.decide(changed[i].after);
      if (truth == Truth::kTrue) current |= mask;
      if (truth != Truth::kUnknown) continue;
      for (const bool value : {true, false}) {
        Facts more = known;
        if (more.assume(literal(changed[i].after, value))) from(i + 1, value ? current | mask : current, more);
      }
      return;
    }
    result.push_back(current);
  };
  from(0, bits & relevant_after, with_element);
}

void Abstraction::capture(const Facts& facts, std::uint32_t operand, const Linear& value, const Command& command,
                          ElementBits relevant, ElementSet& result) const {
  // The element does not exist before the step: its predicates, with its value in its place, are about the state before.
  const Linear anything = Linear::of(reduced_->anything);
  std::vector<Transformer::Changed> changed;
  const auto& predicates = predicates_.elements[operand];
  for (std::uint32_t i = 0; i < predicates.size(); ++i) {
    changed.push_back({i, substitute(predicates[i], [&](Variable v) -> const Linear* {
                         return v == operands_[operand].element ? &value : assigned(command, v, anything);
                       })});
  }
  if (changed.empty()) {
    result.push_back(0);
  } else {
    follow(facts, operand, changed, 0, 0, relevant, result);
  }
}

std::vector<MemoryBits> Abstraction::initial(const MemoryBits& relevant) const {
  std::vector<Linear> values;
  for (const Number n : reduced_->initial) values.push_back(Linear::of_constant(n));
  std::vector<Transformer::Changed> changed;
  for (std::uint32_t i = 0; i < predicates_.memory.size(); ++i) {
    changed.push_back(
        {i, substitute(predicates_.memory[i], [&](Variable v) { return &values[v - 1]; })});
  }
  std::vector<MemoryBits> result;
  memories(Facts(reduced_->variables), changed, {}, relevant,
           [&](const MemoryBits& bits, const Facts&) { result.push_back(bits); });
  return result;
}

}  // namespace loco::verify::abstract
