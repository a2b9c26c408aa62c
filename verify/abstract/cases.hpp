// Expressions of a program as finitely many cases, each a conjunction of linear atoms with a linear value: what the
// analyses of this folder work on. A product of two variables has no linear value: such a case is `unsure`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "verify/abstract/linear.hpp"
#include "verify/expression.hpp"

namespace loco::verify::abstract {

/// A process stands (or does not stand) at a location; from `at(pid, LABEL)` in properties.
struct Standing {
  std::uint32_t process = 0;
  std::uint32_t location = 0;
  bool there = true;
  friend auto operator<=>(const Standing&, const Standing&) = default;
};

/// A conjunction: every atom is `linear <= 0`.
struct Conjunction {
  std::vector<Linear> atoms;
  std::vector<Standing> standing;
};

/// The value of an expression where a conjunction holds; without a value it may be any number.
struct Case {
  Conjunction condition;
  std::optional<Linear> value;
};

/// More cases than are worth to be told apart.
struct TooManyCases : GivesUp {
  TooManyCases() : GivesUp("an expression has too many cases for this engine") {}
};

/// An integer of the program. Throws TooLarge.
[[nodiscard]] Number to_number(const Integer& value);

/// The linear expression of a leaf (kLocal, kShared).
using Naming = std::function<Linear(const ExpressionNode&)>;

/// Where the expression is true (or, negated, false): in some conjunction. Where its truth is not linear, both ways.
[[nodiscard]] std::vector<Conjunction> where_true(const Expression& expression, bool negated, const Naming& naming);

/// The values of the expression; together the conditions cover everything.
[[nodiscard]] std::vector<Case> values(const Expression& expression, const Naming& naming);

}  // namespace loco::verify::abstract
