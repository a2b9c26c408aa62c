// Unbounded integers as 32-bit handles: small ones are themselves, large ones are numbered. Equal handles, equal
// integers, so that states of a search compare and hash as plain words.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "verify/expression.hpp"
#include "verify/integer.hpp"

namespace loco::verify {

using Value = std::int32_t;

/// No integer: stands where a value does not matter.
inline constexpr Value kNoValue = std::numeric_limits<Value>::min();

class Numbers {
 public:
  /// Throws std::length_error when the integer has more than a hundred thousand bits: a search in which they keep
  /// growing has no end.
  [[nodiscard]] Value value(const Integer& integer);
  [[nodiscard]] Integer integer(Value value) const;
  /// An operator on handles; `right` only when it has two operands.
  [[nodiscard]] Value apply(Operator op, Value left, Value right);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr Value kSmallMax = 1 << 29;  ///< handles above are places in large_

  std::vector<Integer> large_;
  std::map<Integer, Value> handles_;
  std::size_t bytes_ = 0;
};

}  // namespace loco::verify
