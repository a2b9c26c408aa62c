#include "verify/expression.hpp"

#include <stdexcept>

namespace loco::verify {

Integer apply(Operator op, const Integer& left, const Integer& right) {
  const auto truth = [](bool holds) { return Integer(holds ? 1 : 0); };
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

}  // namespace loco::verify
