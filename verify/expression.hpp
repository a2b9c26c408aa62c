// Expressions over integers, in postfix order: an operator follows its operands. A reader folds over the nodes with a
// stack, so that no expression is too deep for it.
//
// As in C there are no booleans: a comparison, `!`, `&&` and `||` give 1 or 0, and whatever is not 0 is true. Nothing
// in an expression can fail or change anything: both sides of `&&` and `||` may be evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/integer.hpp"

namespace loco::verify {

enum class Operator : std::uint8_t {
  kLiteral,  ///< node.literal
  kLocal,    ///< node.index: of Program::locals
  kShared,   ///< node.index: of Program::shared; in properties only
  kAt,       ///< node.index: of Program::processes, node.location: 1 when that process stands there; in properties only
  kIn,      ///< node.location: of its Process::labels, 1 when that process stands in that statement; in properties only
  kNegate,  ///< unary from here
  kNot,
  kAdd,  ///< binary from here
  kSubtract,
  kMultiply,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
};

/// The number of operands: 0 for variables and constants, else 1 or 2.
[[nodiscard]] constexpr int operands(Operator op) { return op < Operator::kNegate ? 0 : op < Operator::kAdd ? 1 : 2; }

struct ExpressionNode {
  Operator op = Operator::kLiteral;
  Integer literal;
  std::uint32_t index = 0;
  std::uint32_t location = 0;
};

struct Expression {
  std::vector<ExpressionNode> nodes;
  std::string text;  ///< as the user wrote it, white space made even
};

/// The value of an operator over the values of its operands (`right` only when it has two).
[[nodiscard]] Integer apply(Operator op, const Integer& left, const Integer& right);

/// The value of an expression; `leaf(node)` gives the value of a variable or of `at`.
template <typename Leaf>
[[nodiscard]] Integer evaluate(const Expression& expression, Leaf leaf) {
  std::vector<Integer> stack;
  for (const ExpressionNode& node : expression.nodes) {
    if (node.op == Operator::kLiteral) {
      stack.push_back(node.literal);
    } else if (operands(node.op) == 0) {
      stack.push_back(leaf(node));
    } else if (operands(node.op) == 1) {
      stack.back() = apply(node.op, stack.back(), 0);
    } else {
      const Integer right = stack.back();
      stack.pop_back();
      stack.back() = apply(node.op, stack.back(), right);
    }
  }
  return stack.back();
}

}  // namespace loco::verify
