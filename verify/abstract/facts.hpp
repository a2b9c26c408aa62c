// What is known of a state: a conjunction of linear atoms, closed under what follows from differences `x - y <= c`
// (shortest paths in the graph of constraints; over the integers that is complete for differences). Where other atoms
// have a say, variables are eliminated one after the other (Fourier and Motzkin, with the constants rounded): what
// contradicts over the rationals is found, and that is sound for the integers.
#pragma once

#include <vector>

#include "verify/abstract/linear.hpp"

namespace loco::verify::abstract {

enum class Truth : std::uint8_t { kFalse, kTrue, kUnknown };

class Facts {
 public:
  explicit Facts(std::uint32_t variables);

  /// Assumes `atom <= 0`. False when that contradicts the facts, which then stay contradictory.
  bool assume(const Linear& atom);
  [[nodiscard]] bool consistent() const { return consistent_; }
  [[nodiscard]] Truth decide(const Linear& atom) const;

 private:
  [[nodiscard]] Number& at(Variable i, Variable j) { return bounds_[std::size_t{i} * size_ + j]; }
  [[nodiscard]] Number at(Variable i, Variable j) const { return bounds_[std::size_t{i} * size_ + j]; }
  [[nodiscard]] bool implies(const Linear& atom) const;
  [[nodiscard]] bool contradicts(const Linear& atom) const;
  void add(const Difference& d);

  std::uint32_t size_;
  bool consistent_ = true;
  std::vector<Number> bounds_;   ///< of i - j
  std::vector<Linear> general_;  ///< atoms that are no differences
};

}  // namespace loco::verify::abstract
