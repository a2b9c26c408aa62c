// Smallest sets that have an element of each of some sets, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

using Elements = std::vector<std::uint32_t>;  ///< ascending

class HittingSets {
 public:
  /// Elements are 0 to elements - 1.
  explicit HittingSets(std::uint32_t elements) : elements_(elements) {}

  /// From here on each set has one of these.
  void require(const Elements& clause) { clauses_.push_back(clause); }
  /// From here on this one is not given again.
  void exclude(const Elements& set) { excluded_.insert(set); }

  /// Whether a set has one of each.
  [[nodiscard]] bool meets_all(const Elements& set) const;

  /// A set of at most `size` elements that was not excluded, the smaller the better; nothing when there is none. Throws
  /// LimitReached: there may be very many to go through.
  [[nodiscard]] std::optional<Elements> next(std::size_t size, const Limits& limits = {}) const;

 private:
  bool find(std::vector<char>& state, std::vector<std::uint32_t>& chosen, std::size_t size, const Limits& limits) const;

  std::uint32_t elements_;
  std::vector<Elements> clauses_;
  std::set<Elements> excluded_;
};

}  // namespace loco::verify
