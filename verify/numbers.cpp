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
  const std::int64_t result = verify::apply<std::int64_t>(op, left, right);
  return result >= -kSmallMax && result <= kSmallMax ? static_cast<Value>(result) : value(Integer(result));
}

}  // namespace loco::verify
