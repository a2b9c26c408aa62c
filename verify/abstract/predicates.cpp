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

bool covers(const MemoryCube& general, const MemoryCube& special) {
  for (std::size_t w = 0; w < general.known.size(); ++w) {
    if ((general.known[w] & ~special.known[w]) != 0 || (special.value[w] & general.known[w]) != general.value[w])
      return false;
  }
  return true;
}

bool covers(const ElementSet& general, const ElementSet& special) {
  return std::all_of(special.begin(), special.end(), [&](const ElementCube& s) {
    return std::any_of(general.begin(), general.end(), [&](const ElementCube& g) { return covers(g, s); });
  });
}

void normalise(ElementSet& set) {
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  const ElementSet all = set;
  std::erase_if(set, [&](const ElementCube& s) {
    return std::any_of(all.begin(), all.end(), [&](const ElementCube& g) { return g != s && covers(g, s); });
  });
}

std::size_t Abstraction::Hash::operator()(const MemoryCube& cube) const {
  std::size_t hash = 0;
  for (const std::uint64_t word : cube.known) hash = (hash ^ word) * 0x9e3779b97f4a7c15U + (hash >> 29U);
  for (const std::uint64_t word : cube.value) hash = (hash ^ word) * 0x9e3779b97f4a7c15U + (hash >> 29U);
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
      others_.back().push_back(substitute(p, [&](Variable v) { return v == operands_[o].element ? &other : nullptr; }));
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
      if (changes(command, predicates[i])) list.push_back({i, substitute(predicates[i], value)});
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

const Facts& Abstraction::facts(const MemoryCube& memory) {
  if (facts_.size() > kFactsMax) facts_.clear();
  if (const auto found = facts_.find(memory); found != facts_.end()) return found->second;
  Facts facts(reduced_->variables);
  for (std::size_t i = 0; i < predicates_.memory.size(); ++i) {
    if (bit(memory.known, i)) facts.assume(literal(predicates_.memory[i], bit(memory.value, i)));
  }
  return facts_.emplace(memory, std::move(facts)).first->second;
}

bool Abstraction::assume(Facts& facts, const Pick& pick) const {
  const auto& predicates = predicates_.elements[pick.operand];
  for (std::size_t i = 0; i < predicates.size(); ++i) {
    if ((pick.element.known >> i & 1U) == 0) continue;
    if (!facts.assume(literal(predicates[i], (pick.element.value >> i & 1U) != 0))) return false;
  }
  return true;
}

MemoryCube Abstraction::after(const Facts& facts, const std::vector<Transformer::Changed>& changed,
                              const MemoryCube& before, const MemoryBits& relevant) const {
  MemoryCube result;
  auto next = changed.begin();
  for (std::uint32_t p = 0; p < predicates_.memory.size(); ++p) {
    const bool touched = next != changed.end() && next->predicate == p;
    const Linear& atom = touched ? next->after : predicates_.memory[p];
    if (touched) ++next;
    if (!bit(relevant, p)) continue;
    if (!touched && bit(before.known, p)) {
      set_bit(result.known, p, true);
      set_bit(result.value, p, bit(before.value, p));
      continue;
    }
    const Truth truth = facts.decide(atom);
    set_bit(result.known, p, truth != Truth::kUnknown);
    set_bit(result.value, p, truth == Truth::kTrue);
  }
  return result;
}

std::optional<ElementCube> Abstraction::after(const Facts& facts, std::uint32_t operand,
                                              const std::vector<Transformer::Changed>& changed,
                                              const ElementCube& before, ElementBits relevant) const {
  const std::vector<Linear>& predicates = others_[operand];
  if (predicates.empty()) return before;
  Facts with_element = facts;
  for (std::size_t i = 0; i < predicates.size(); ++i) {
    if ((before.known >> i & 1U) == 0) continue;
    if (!with_element.assume(literal(predicates[i], (before.value >> i & 1U) != 0))) return std::nullopt;
  }
  ElementCube result;
  auto next = changed.begin();
  for (std::uint32_t i = 0; i < predicates.size(); ++i) {
    const bool touched = next != changed.end() && next->predicate == i;
    const Linear& atom = touched ? next->after : predicates[i];
    if (touched) ++next;
    const ElementBits mask = ElementBits{1} << i;
    if ((relevant & mask) == 0) continue;
    const Truth truth = with_element.decide(atom);
    if (truth != Truth::kUnknown) result.known |= mask;
    if (truth == Truth::kTrue) result.value |= mask;
  }
  return result;
}

ElementCube Abstraction::capture(const Facts& facts, std::uint32_t operand, const Linear& value, const Command& command,
                                 ElementBits relevant) const {
  // The element does not exist before the step: its predicates, with its value in its place, are about the state
  // before.
  const Linear anything = Linear::of(reduced_->anything);
  ElementCube result;
  const auto& predicates = predicates_.elements[operand];
  for (std::uint32_t i = 0; i < predicates.size(); ++i) {
    const ElementBits mask = ElementBits{1} << i;
    if ((relevant & mask) == 0) continue;
    const Truth truth = facts.decide(substitute(predicates[i], [&](Variable v) -> const Linear* {
      return v == operands_[operand].element ? &value : assigned(command, v, anything);
    }));
    if (truth != Truth::kUnknown) result.known |= mask;
    if (truth == Truth::kTrue) result.value |= mask;
  }
  return result;
}

MemoryCube Abstraction::initial(const MemoryBits& relevant) const {
  std::vector<Linear> values;
  for (const Number n : reduced_->initial) values.push_back(Linear::of_constant(n));
  std::vector<Transformer::Changed> changed;
  for (std::uint32_t i = 0; i < predicates_.memory.size(); ++i)
    changed.push_back({i, substitute(predicates_.memory[i], [&](Variable v) { return &values[v - 1]; })});
  return after(Facts(reduced_->variables), changed, {}, relevant);
}

}  // namespace loco::verify::abstract
