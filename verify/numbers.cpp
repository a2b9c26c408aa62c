#include "verify/numbers.hpp"

#include <limits>
#include <stdexcept>

namespace loco::verify {

Value Numbers::value(const Integer& integer) {
  if (integer >= -kSmallMax && integer <= kSmallMax) return static_cast<Value>(static_cast<std::int64_t>(integer));
  const auto found = handles_.find(integer);
  if (found != handles_.end()) return found->second;
  constexpr std::size_t kBitsMax = 100'000;
  const std::size_t bits = integer.bits();
  if (bits > kBitsMax || large_.size() >= static_cast<std::size_t>(std::numeric_limits<Value>::max() - kSmallMax) - 1)
    throw std::length_error("integers that are too large, or too many of them");
  large_.push_back(integer);
  bytes_ += bits / 4 + 160;  // twice, with a node of the map
  const Value handle = kSmallMax + static_cast<Value>(large_.size());
  handles_.emplace(integer, handle);
  return handle;
}

Integer Numbers::integer(Value value) const {
  return value <= kSmallMax ? Integer(value) : large_.at(static_cast<std::size_t>(value - kSmallMax) - 1);
}

Value Numbers::apply(Operator op, Value left, Value right) {
  if (left > kSmallMax || right > kSmallMax) return value(verify::apply(op, integer(left), integer(right)));
  const std::int64_t a = left;
  const std::int64_t b = right;
  const auto whole = [this](std::int64_t result) {
    return result >= -kSmallMax && result <= kSmallMax ? static_cast<Value>(result) : value(Integer(result));
  };
  switch (op) {
    case Operator::kNegate:
      return whole(-a);
    case Operator::kAdd:
      return whole(a + b);
    case Operator::kSubtract:
      return whole(a - b);
    case Operator::kMultiply:
      return whole(a * b);
    case Operator::kNot:
      return a == 0 ? 1 : 0;
    case Operator::kEqual:
      return a == b ? 1 : 0;
    case Operator::kNotEqual:
      return a != b ? 1 : 0;
    case Operator::kLess:
      return a < b ? 1 : 0;
    case Operator::kLessEqual:
      return a <= b ? 1 : 0;
    case Operator::kGreater:
      return a > b ? 1 : 0;
    case Operator::kGreaterEqual:
      return a >= b ? 1 : 0;
    case Operator::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    default:
      return a != 0 || b != 0 ? 1 : 0;
  }
}

}  // namespace loco::verify
