#include "verify/abstract/facts.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace loco::verify::abstract {

namespace {

constexpr Number kNone = std::numeric_limits<Number>::max();
constexpr std::size_t kAtomsMax = 120;  // of an elimination: beyond, nothing is concluded

/// Every pair of an upper and a lower bound of the variable, added up so that it cancels out; the rest as it is.
std::vector<Linear> without(const std::vector<Linear>& atoms, Variable variable) {
  std::vector<Linear> rest;
  std::vector<std::pair<Number, const Linear*>> upper;
  std::vector<std::pair<Number, const Linear*>> lower;
  for (const Linear& atom : atoms) {
    const auto term =
        std::find_if(atom.terms.begin(), atom.terms.end(), [&](const Term& t) { return t.variable == variable; });
    if (term == atom.terms.end()) {
      rest.push_back(atom);
    } else if (term->factor > 0) {
      upper.emplace_back(term->factor, &atom);
    } else {
      lower.emplace_back(-term->factor, &atom);
    }
  }
  for (const auto& [u, above] : upper) {
    for (const auto& [l, below] : lower) rest.push_back(tightened(plus(times(*above, l), times(*below, u))));
  }
  return rest;
}

/// Of atoms with the same terms the strongest.
void thin(std::vector<Linear>& atoms) {
  std::sort(atoms.begin(), atoms.end(), std::greater<>());
  const auto same = [](const Linear& a, const Linear& b) { return a.terms == b.terms; };
  atoms.erase(std::unique(atoms.begin(), atoms.end(), same), atoms.end());
}

/// The variable with the fewest pairs of bounds.
Variable cheapest(const std::vector<Linear>& atoms) {
  std::map<Variable, std::pair<std::size_t, std::size_t>> bounds;
  for (const Linear& atom : atoms) {
    for (const Term& t : atom.terms) ++(t.factor > 0 ? bounds[t.variable].first : bounds[t.variable].second);
  }
  Variable best = kZero;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& [variable, count] : bounds) {
    if (count.first * count.second >= least) continue;
    least = count.first * count.second;
    best = variable;
  }
  return best;
}

bool contradictory(std::vector<Linear> atoms) {
  for (thin(atoms); atoms.size() <= kAtomsMax; thin(atoms)) {
    const auto never = [](const Linear& a) { return a.is_constant() && a.constant > 0; };
    if (std::any_of(atoms.begin(), atoms.end(), never)) return true;
    const Variable next = cheapest(atoms);
    if (next == kZero) return false;
    atoms = without(atoms, next);
  }
  return false;
}

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
  } else {
    general_.push_back(atom);
  }
  if (consistent_ && !general_.empty() && contradicts(atom)) consistent_ = false;
  return consistent_;
}

/// Whether the atom cannot hold; called when some atom is no difference.
bool Facts::contradicts(const Linear& atom) const {
  std::vector<bool> involved(size_, false);
  std::vector<Linear> atoms{atom};
  const auto involve = [&](const Linear& a) {
    for (const Term& t : a.terms) involved[t.variable] = true;
  };
  involve(atom);
  std::vector<bool> taken(general_.size(), false);
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < general_.size(); ++i) {
      const auto& terms = general_[i].terms;
      if (taken[i] || std::none_of(terms.begin(), terms.end(), [&](const Term& t) { return involved[t.variable]; }))
        continue;
      taken[i] = grown = true;
      involve(general_[i]);
      atoms.push_back(general_[i]);
    }
  }
  involved[kZero] = true;
  for (Variable i = 0; i < size_; ++i) {
    for (Variable j = 0; j < size_; ++j) {
      if (i == j || !involved[i] || !involved[j] || at(i, j) == kNone) continue;
      Linear bound = minus(Linear::of(i), Linear::of(j));
      bound.constant = checked_multiply(at(i, j), -1);
      atoms.push_back(bound);
    }
  }
  return contradictory(std::move(atoms));
}

bool Facts::implies(const Linear& atom) const {
  if (atom.is_constant()) return atom.constant <= 0;
  const auto d = as_difference(atom);
  if (d && at(d->left, d->right) <= d->bound) return true;
  return (!d || !general_.empty()) && contradicts(negation(atom));
}

Truth Facts::decide(const Linear& atom) const {
  if (implies(atom)) return Truth::kTrue;
  return implies(negation(atom)) ? Truth::kFalse : Truth::kUnknown;
}

}  // namespace loco::verify::abstract
