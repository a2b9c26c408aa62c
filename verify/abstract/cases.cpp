#include "verify/abstract/cases.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace loco::verify::abstract {

namespace {

constexpr std::size_t kCasesMax = 2'000;

using Disjunction = std::vector<Conjunction>;

/// A subexpression: a number by cases, or a truth value by where it is true and where it is false.
struct Part {
  bool truth = false;
  std::vector<Case> number;
  Disjunction holds;
  Disjunction fails;
};

/// Adds an atom; false when the conjunction cannot hold any more. Atoms that say nothing are left out.
bool add(Conjunction& conjunction, const Linear& atom) {
  const Linear tight = tightened(atom);
  if (tight.is_constant()) return tight.constant <= 0;
  if (std::find(conjunction.atoms.begin(), conjunction.atoms.end(), tight) == conjunction.atoms.end())
    conjunction.atoms.push_back(tight);
  return true;
}

std::optional<Conjunction> both(const Conjunction& a, const Conjunction& b) {
  Conjunction result = a;
  for (const Linear& atom : b.atoms) {
    if (!add(result, atom)) return std::nullopt;
  }
  for (const Standing& s : b.standing) {
    if (std::find(result.standing.begin(), result.standing.end(), s) == result.standing.end())
      result.standing.push_back(s);
  }
  return result;
}

Disjunction all_of(const Disjunction& a, const Disjunction& b) {
  if (a.size() * b.size() > kCasesMax) throw TooManyCases();
  Disjunction result;
  for (const Conjunction& i : a) {
    for (const Conjunction& j : b) {
      if (auto c = both(i, j)) result.push_back(std::move(*c));
    }
  }
  return result;
}

Disjunction any_of(Disjunction a, const Disjunction& b) {
  a.insert(a.end(), b.begin(), b.end());
  if (a.size() > kCasesMax) throw TooManyCases();
  return a;
}

void include(Disjunction& disjunction, const Conjunction& condition, const std::vector<Linear>& atoms) {
  Conjunction extended = condition;
  for (const Linear& atom : atoms) {
    if (!add(extended, atom)) return;
  }
  disjunction.push_back(std::move(extended));
}

/// `linear OP 0` under a condition, added to where the truth value holds and where it fails.
void compare(Part& part, Operator op, const Conjunction& condition, const Linear& linear) {
  const Linear at_most = linear;                              // linear <= 0
  const Linear above = negation(linear);                      // linear >= 1
  const Linear at_least = times(linear, -1);                  // linear >= 0
  const Linear below = plus(linear, Linear::of_constant(1));  // linear <= -1
  const auto split = [&](Disjunction& yes, Disjunction& no) {
    include(yes, condition, {at_most, at_least});
    include(no, condition, {above});
    include(no, condition, {below});
  };
  const auto one = [&](const Linear& yes, const Linear& no) {
    include(part.holds, condition, {yes});
    include(part.fails, condition, {no});
  };
  switch (op) {
    case Operator::kEqual:
      return split(part.holds, part.fails);
    case Operator::kNotEqual:
      return split(part.fails, part.holds);
    case Operator::kLess:
      return one(below, at_least);
    case Operator::kLessEqual:
      return one(at_most, above);
    case Operator::kGreater:
      return one(above, at_most);
    default:
      return one(at_least, below);
  }
}

Part truth_of(Part part) {
  if (part.truth) return part;
  Part result;
  result.truth = true;
  for (const Case& c : part.number) {
    if (c.value) {
      compare(result, Operator::kNotEqual, c.condition, *c.value);
    } else {
      result.holds.push_back(c.condition);
      result.fails.push_back(c.condition);
    }
  }
  return result;
}

Part number_of(Part part) {
  if (!part.truth) return part;
  Part result;
  for (const Conjunction& c : part.holds) result.number.push_back({c, Linear::of_constant(1)});
  for (const Conjunction& c : part.fails) result.number.push_back({c, Linear::of_constant(0)});
  return result;
}

std::optional<Linear> arithmetic(Operator op, const Linear& a, const Linear& b) {
  if (op == Operator::kAdd) return plus(a, b);
  if (op == Operator::kSubtract) return minus(a, b);
  if (a.is_constant()) return times(b, a.constant);
  if (b.is_constant()) return times(a, b.constant);
  return std::nullopt;
}

Part binary(Operator op, Part left, Part right) {
  Part result;
  if (op == Operator::kAnd || op == Operator::kOr) {
    const Part a = truth_of(std::move(left));
    const Part b = truth_of(std::move(right));
    result.truth = true;
    result.holds = op == Operator::kAnd ? all_of(a.holds, b.holds) : any_of(a.holds, b.holds);
    result.fails = op == Operator::kAnd ? any_of(a.fails, b.fails) : all_of(a.fails, b.fails);
    return result;
  }
  const bool comparison = op >= Operator::kEqual;
  result.truth = comparison;
  left = number_of(std::move(left));
  right = number_of(std::move(right));
  if (left.number.size() * right.number.size() > kCasesMax) throw TooManyCases();
  for (const Case& a : left.number) {
    for (const Case& b : right.number) {
      const auto condition = both(a.condition, b.condition);
      if (!condition) continue;
      const bool known = a.value && b.value;
      if (!comparison) {
        result.number.push_back({*condition, known ? arithmetic(op, *a.value, *b.value) : std::nullopt});
      } else if (known) {
        compare(result, op, *condition, minus(*a.value, *b.value));
      } else {
        result.holds.push_back(*condition);
        result.fails.push_back(*condition);
      }
    }
  }
  return result;
}

Part unary(Operator op, Part part) {
  if (op == Operator::kNot) {
    part = truth_of(std::move(part));
    std::swap(part.holds, part.fails);
    return part;
  }
  part = number_of(std::move(part));
  for (Case& c : part.number) {
    if (c.value) c.value = times(*c.value, -1);
  }
  return part;
}

Part leaf(const ExpressionNode& node, const Naming& naming) {
  Part part;
  if (node.op == Operator::kAt) {
    part.truth = true;
    part.holds.push_back({{}, {{node.index, node.location, true}}});
    part.fails.push_back({{}, {{node.index, node.location, false}}});
  } else if (node.op == Operator::kLiteral) {
    part.number.push_back({{}, Linear::of_constant(to_number(node.literal))});
  } else {
    part.number.push_back({{}, naming(node)});
  }
  return part;
}

Part fold(const Expression& expression, const Naming& naming) {
  std::vector<Part> stack;
  return std::move(verify::fold(
      expression, stack, [&](const ExpressionNode& node) { return leaf(node, naming); },
      [](Operator op, Part left, Part right) {
        return operands(op) == 1 ? unary(op, std::move(left)) : binary(op, std::move(left), std::move(right));
      }));
}

}  // namespace

Number to_number(const Integer& value) {
  if (value > std::numeric_limits<Number>::max() / 4 || value < std::numeric_limits<Number>::min() / 4)
    throw TooLarge();
  return static_cast<Number>(value);
}

std::vector<Conjunction> where_true(const Expression& expression, bool negated, const Naming& naming) {
  const Part part = truth_of(fold(expression, naming));
  return negated ? part.fails : part.holds;
}

std::vector<Case> values(const Expression& expression, const Naming& naming) {
  return number_of(fold(expression, naming)).number;
}

}  // namespace loco::verify::abstract
