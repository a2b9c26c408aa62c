// Interned vectors of values: what pending operations may have read. Equal numbers, equal vectors.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verify/numbers.hpp"

namespace loco::verify {

using SetId = std::uint32_t;

/// A set of values is an ascending vector. What a cas may have read takes two of them: the operands, behind their
/// number, and the pairs (operand, swap), flattened.
class ValueSets {
 public:
  ValueSets() { (void)id({}); }

  static constexpr SetId kEmpty = 0;

  [[nodiscard]] SetId id(const std::vector<Value>& values);
  [[nodiscard]] const std::vector<Value>& values(SetId id) const { return *by_id_[id]; }
  [[nodiscard]] SetId with(SetId set, Value value);
  [[nodiscard]] SetId united(SetId a, SetId b);

  [[nodiscard]] bool include(SetId larger, SetId smaller) const;

  /// What a cas may have read when operand and swap now have these values, too.
  [[nodiscard]] SetId pairs_with(SetId pairs, Value operand, Value swap);
  [[nodiscard]] SetId pairs_united(SetId a, SetId b);
  [[nodiscard]] bool pairs_include(SetId larger, SetId smaller) const;
  [[nodiscard]] std::vector<std::pair<Value, Value>> pairs(SetId pairs) const;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::map<std::vector<Value>, SetId> ids_;
  std::vector<const std::vector<Value>*> by_id_;
  std::unordered_map<std::uint64_t, SetId> with_;  ///< of (set, value)
  std::size_t bytes_ = 0;
};

}  // namespace loco::verify
