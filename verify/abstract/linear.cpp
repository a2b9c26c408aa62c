#include "verify/abstract/linear.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace loco::verify::abstract {

Number checked_add(Number a, Number b) {
  Number sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw TooLarge();
  return sum;
}

Number checked_multiply(Number a, Number b) {
  Number product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw TooLarge();
  return product;
}

Linear Linear::of(Variable variable) {
  if (variable == kZero) return {};
  return {{{variable, 1}}, 0};
}

bool Linear::mentions(Variable variable) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return t.variable == variable; });
}

Linear plus(const Linear& a, const Linear& b) {
  Linear sum;
  sum.constant = checked_add(a.constant, b.constant);
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->variable < j->variable)) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->variable < i->variable) {
      sum.terms.push_back(*j++);
    } else {
      const Number factor = checked_add(i->factor, j->factor);
      if (factor != 0) sum.terms.push_back({i->variable, factor});
      ++i;
      ++j;
    }
  }
  return sum;
}

Linear times(const Linear& a, Number factor) {
  if (factor == 0) return {};
  Linear product = a;
  for (Term& t : product.terms) t.factor = checked_multiply(t.factor, factor);
  product.constant = checked_multiply(product.constant, factor);
  return product;
}

Linear minus(const Linear& a, const Linear& b) { return plus(a, times(b, -1)); }

Linear substitute(const Linear& a, const std::function<const Linear*(Variable)>& value) {
  Linear result = Linear::of_constant(a.constant);
  for (const Term& t : a.terms) {
    const Linear* replacement = value(t.variable);
    result = plus(result, times(replacement != nullptr ? *replacement : Linear::of(t.variable), t.factor));
  }
  return result;
}

Linear negation(const Linear& a) {
  Linear result = times(a, -1);
  result.constant = checked_add(result.constant, 1);
  return result;
}

Linear tightened(const Linear& a) {
  Number divisor = 0;
  for (const Term& t : a.terms) divisor = std::gcd(divisor, t.factor);
  if (divisor <= 1) return a;
  Linear result = a;
  for (Term& t : result.terms) t.factor /= divisor;
  // sum + constant <= 0 with a sum that is a multiple of the divisor: the constant may be rounded up.
  const Number quotient = a.constant / divisor;
  result.constant = quotient * divisor < a.constant ? quotient + 1 : quotient;
  return result;
}

std::optional<Difference> as_difference(const Linear& a) {
  if (a.terms.size() > 2) return std::nullopt;
  Difference d;
  d.bound = checked_multiply(a.constant, -1);
  for (const Term& t : a.terms) {
    if (t.factor == 1 && d.left == kZero) {
      d.left = t.variable;
    } else if (t.factor == -1 && d.right == kZero) {
      d.right = t.variable;
    } else {
      return std::nullopt;
    }
  }
  return d;
}

std::string to_string(const Linear& a, const std::function<std::string(Variable)>& name) {
  std::string left;
  for (const Term& t : a.terms) {
    const Number size = t.factor < 0 ? -t.factor : t.factor;
    const std::string factor = size == 1 ? "" : fmt::format("{} * ", size);
    if (left.empty()) {
      left = (t.factor < 0 ? "-" : "") + factor + name(t.variable);
    } else {
      left += (t.factor < 0 ? " - " : " + ") + factor + name(t.variable);
    }
  }
  return fmt::format("{} <= {}", left.empty() ? "0" : left, -a.constant);
}

}  // namespace loco::verify::abstract
