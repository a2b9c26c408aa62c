#include "verify/abstract/facts.hpp"

#include <algorithm>
#include <limits>

namespace loco::verify::abstract {

namespace {

constexpr Number kNone = std::numeric_limits<Number>::max();

}  // namespace

Facts::Facts(std::uint32_t variables) : size_(variables), bounds_(std::size_t{variables} * variables, kNone) {
  for (Variable i = 0; i < size_; ++i) at(i, i) = 0;
}

void Facts::add(const Difference& d) {
  if (at(d.left, d.right) <= d.bound) return;
  const Number back = at(d.right, d.left);
  if (back != kNone && checked_add(back, d.bound) < 0) {
    consistent_ = false;
    return;
  }
  for (Variable i = 0; i < size_; ++i) {
    const Number to_left = at(i, d.left);
    if (to_left == kNone) continue;
    const Number first = checked_add(to_left, d.bound);
    for (Variable j = 0; j < size_; ++j) {
      const Number from_right = at(d.right, j);
      if (from_right == kNone) continue;
      Number& bound = at(i, j);
      bound = std::min(bound, checked_add(first, from_right));
    }
  }
}

bool Facts::assume(const Linear& atom) {
  if (!consistent_) return false;
  if (atom.is_constant()) {
    if (atom.constant > 0) consistent_ = false;
  } else if (const auto d = as_difference(atom)) {
    add(*d);
  } else if (implies(negation(atom))) {
    consistent_ = false;
  } else {
    general_.push_back(atom);
  }
  return consistent_;
}

bool Facts::implies(const Linear& atom) const {
  if (atom.is_constant()) return atom.constant <= 0;
  if (const auto d = as_difference(atom)) return at(d->left, d->right) <= d->bound;
  const auto stronger = [&](const Linear& known) {
    return known.terms == atom.terms && known.constant >= atom.constant;
  };
  if (std::any_of(general_.begin(), general_.end(), stronger)) return true;
  Number most = atom.constant;
  for (const Term& t : atom.terms) {
    const Number bound = t.factor > 0 ? at(t.variable, kZero) : at(kZero, t.variable);
    if (bound == kNone) return false;
    most = checked_add(most, checked_multiply(bound, t.factor > 0 ? t.factor : -t.factor));
  }
  return most <= 0;
}

Truth Facts::decide(const Linear& atom) const {
  if (implies(atom)) return Truth::kTrue;
  return implies(negation(atom)) ? Truth::kFalse : Truth::kUnknown;
}

}  // namespace loco::verify::abstract
