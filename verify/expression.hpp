// Expressions over integers, in postfix order: an operator follows its operands. A reader folds over the nodes with a
// stack, so that no expression is too deep for it.
//
// As in C there are no booleans: a comparison, `!`, `&&` and `||` give 1 or 0, and whatever is not 0 is true. Nothing
// in an expression can fail or change anything: both sides of `&&` and `||` may be evaluated.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
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

/// The value of an operator over the values of its operands (`right` only when it has two), whatever their type.
template <typename Number>
[[nodiscard]] Number apply(Operator op, const Number& left, const Number& right) {
  const auto truth = [](bool holds) { return Number(holds ? 1 : 0); };
  switch (op) {
    case Operator::kNegate:
      return -left;
    case Operator::kNot:
      return truth(left == 0);
    case Operator::kAdd:
      return left + right;
    case Operator::kSubtract:
      return left - right;
    case Operator::kMultiply:
      return left * right;
    case Operator::kEqual:
      return truth(left == right);
    case Operator::kNotEqual:
      return truth(left != right);
    case Operator::kLess:
      return truth(left < right);
    case Operator::kLessEqual:
      return truth(left <= right);
    case Operator::kGreater:
      return truth(left > right);
    case Operator::kGreaterEqual:
      return truth(left >= right);
    case Operator::kAnd:
      return truth(left != 0 && right != 0);
    case Operator::kOr:
      return truth(left != 0 || right != 0);
    default:
      throw std::logic_error("an operand is no operator");
  }
}

/// Folds an expression on a stack, which is empty but for the result in the end: `leaf(node)` gives the value of an
/// operand, `apply(op, left, right)` that of an operator (`right` only when it has two).
template <typename Value, typename Leaf, typename Apply>
[[nodiscard]] Value& fold(const Expression& expression, std::vector<Value>& stack, Leaf leaf, Apply apply) {
  stack.clear();
  for (const ExpressionNode& node : expression.nodes) {
    if (operands(node.op) == 0) {
      stack.push_back(leaf(node));
      continue;
    }
    Value right{};
    if (operands(node.op) == 2) {
      right = std::move(stack.back());
      stack.pop_back();
    }
    stack.back() = apply(node.op, std::move(stack.back()), std::move(right));
  }
  return stack.back();
}

/// The value of an expression; `leaf(node)` gives the value of a variable or of `at`.
template <typename Leaf>
[[nodiscard]] Integer evaluate(const Expression& expression, Leaf leaf) {
  std::vector<Integer> stack;
  const auto operand = [&](const ExpressionNode& node) {
    return node.op == Operator::kLiteral ? node.literal : leaf(node);
  };
  return std::move(fold(expression, stack, operand, apply<Integer>));
}

}  // namespace loco::verify
