// Linear expressions over the variables of a reduced program, and the atoms `expression <= 0` that predicates, guards
// and interpolants are made of.
//
// Numbers are 64 bits wide here, checked: what does not fit throws TooLarge, and the engine answers `unknown`. Programs
// keep their unbounded integers: only numbers that an analysis handles are limited.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace loco::verify::abstract {

using Number = std::int64_t;

/// A variable of a reduced program (reduced.hpp). Number 0 is the constant zero, so that `x <= c` is a difference, too.
using Variable = std::uint32_t;
inline constexpr Variable kZero = 0;

/// An engine cannot go on; what() gives the reason for the verdict "unknown".
struct GivesUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TooLarge : GivesUp {
  TooLarge() : GivesUp("a number is too large for this engine") {}
};

[[nodiscard]] Number checked_add(Number a, Number b);
[[nodiscard]] Number checked_multiply(Number a, Number b);

struct Term {
  Variable variable = kZero;
  Number factor = 0;
  friend auto operator<=>(const Term&, const Term&) = default;
};

/// sum of factor * variable + constant. Terms are sorted by variable; no factor is 0; kZero does not occur.
struct Linear {
  std::vector<Term> terms;
  Number constant = 0;

  [[nodiscard]] static Linear of(Variable variable);
  [[nodiscard]] static Linear of_constant(Number constant) { return {{}, constant}; }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] bool mentions(Variable variable) const;
  friend auto operator<=>(const Linear&, const Linear&) = default;
};

[[nodiscard]] Linear plus(const Linear& a, const Linear& b);
[[nodiscard]] Linear times(const Linear& a, Number factor);
[[nodiscard]] Linear minus(const Linear& a, const Linear& b);
/// Replaces each variable by the expression that `value` gives for it; variables without one stay.
[[nodiscard]] Linear substitute(const Linear& a, const std::function<const Linear*(Variable)>& value);

/// The integers that satisfy `not (a <= 0)` are those of `negation(a) <= 0`.
[[nodiscard]] Linear negation(const Linear& a);

/// `a <= 0` with the factors divided by their greatest common divisor and the constant rounded to the tighter integer.
[[nodiscard]] Linear tightened(const Linear& a);

/// `left - right <= bound`, when `a <= 0` says that of two variables (either may be kZero).
struct Difference {
  Variable left = kZero;
  Variable right = kZero;
  Number bound = 0;
};
[[nodiscard]] std::optional<Difference> as_difference(const Linear& a);

/// `x - y <= 3`, with names from `name`.
[[nodiscard]] std::string to_string(const Linear& a, const std::function<std::string(Variable)>& name);

}  // namespace loco::verify::abstract
