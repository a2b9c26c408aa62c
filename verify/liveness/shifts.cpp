#include "verify/liveness/shifts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace loco::verify::liveness {

namespace {

/// By how much an expression moves when all variables that are not fixed move by one.
using Factor = Integer;

struct Movement {
  Factor factor = 0;
  std::vector<std::uint32_t> moving;  ///< variables in it that are not fixed
};

}  // namespace

Shifts::Shifts(const Program& program)
    : shared_(static_cast<std::uint32_t>(program.shared.size())),
      parent_(program.shared.size() + program.locals.size()),
      fixed_(parent_.size(), false) {
  while (pass(program)) continue;
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t v = 0; v < parent_.size(); ++v) {
    group_.push_back(fixed_[v] ? kNone
                               : numbers.emplace(root(v), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  groups_ = static_cast<std::uint32_t>(numbers.size());
}

std::uint32_t Shifts::root(std::uint32_t v) {
  while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
  return v;
}

void Shifts::unite(std::uint32_t a, std::uint32_t b) {
  if (fixed_[a] != fixed_[b]) {
    fix(a);
    fix(b);
  }
  parent_[root(a)] = root(b);
}

void Shifts::fix(std::uint32_t v) {
  changed_ = changed_ || !fixed_[v];
  fixed_[v] = true;
}

/// One pass: forms the groups of variables that may shift together, given the variables fixed so far. True if a
/// conflict fixes more variables, so that another pass is needed.
bool Shifts::pass(const Program& program) {
  changed_ = false;
  for (std::uint32_t v = 0; v < parent_.size(); ++v) parent_[v] = v;
  for (const RemoteStatement& r : program.remotes) remote(r);
  for (const Process& p : program.processes) {
    for (const Edge& e : p.edges) {
      const Action& a = e.action;
      if (a.kind == ActionKind::kAssign) assign(shared_ + a.local, *a.expression);
      if (a.kind == ActionKind::kStore) assign(a.shared, *a.expression);
      if (a.kind == ActionKind::kLoad) unite(shared_ + a.local, a.shared);
      if (a.kind == ActionKind::kChoose) fix(shared_ + a.local);
      if ((a.kind == ActionKind::kAssume || a.kind == ActionKind::kAssert) && a.expression) condition(*a.expression);
    }
  }
  for (const LivenessProperty& l : program.liveness) {
    if (l.when) condition(*l.when);
    if (l.then) condition(*l.then);
  }
  // A group of which one is fixed is.
  for (std::uint32_t v = 0; v < parent_.size(); ++v) {
    if (fixed_[v]) fix(root(v));
  }
  for (std::uint32_t v = 0; v < parent_.size(); ++v) {
    if (fixed_[root(v)]) fix(v);
  }
  return changed_;
}

void Shifts::remote(const RemoteStatement& r) {
  if (r.result) unite(*r.result, r.remote);
  if (r.kind == RemoteKind::kPut || r.kind == RemoteKind::kCas) unite(*r.operand, r.remote);
  if (r.kind == RemoteKind::kCas) unite(*r.swap, r.remote);
  if (r.kind == RemoteKind::kRga) fix(*r.operand);
}

std::uint32_t Shifts::variable(const ExpressionNode& node) const {
  return node.op == Operator::kShared ? node.index : shared_ + node.index;
}

void Shifts::condition(const Expression& expression) { assign(kNone, expression); }

/// `target = expression`; without a target a condition, which must not move.
void Shifts::assign(std::uint32_t target, const Expression& expression) {
  std::vector<Movement> stack;
  const auto fix_all = [&](const Movement& part) {
    for (const std::uint32_t v : part.moving) fix(v);
  };
  const auto together = [&](const Movement& part) {
    for (const std::uint32_t v : part.moving) unite(v, part.moving.front());
  };
  const auto must_not_move = [&](Movement& part) {
    if (part.factor != Factor(0)) fix_all(part);
    together(part);
    part = {};
  };
  for (const ExpressionNode& node : expression.nodes) {
    if (operands(node.op) == 0) {
      Movement leaf;
      const bool is_variable = node.op == Operator::kLocal || node.op == Operator::kShared;
      if (is_variable && !fixed_[variable(node)]) leaf = {Factor(1), {variable(node)}};
      stack.push_back(std::move(leaf));
      continue;
    }
    if (node.op == Operator::kNegate) {
      stack.back().factor = -stack.back().factor;
      continue;
    }
    if (node.op == Operator::kNot) {
      must_not_move(stack.back());
      continue;
    }
    Movement right = std::move(stack.back());
    stack.pop_back();
    Movement& left = stack.back();
    const bool truth = node.op == Operator::kAnd || node.op == Operator::kOr || node.op == Operator::kMultiply;
    if (truth) {
      must_not_move(left);
      must_not_move(right);
      continue;
    }
    // Sums and differences move by what both sides do; comparisons look at the difference.
    left.factor = node.op == Operator::kAdd ? left.factor + right.factor : left.factor - right.factor;
    left.moving.insert(left.moving.end(), right.moving.begin(), right.moving.end());
    if (node.op != Operator::kAdd && node.op != Operator::kSubtract) must_not_move(left);
  }
  Movement& whole = stack.back();
  if (target == kNone) return must_not_move(whole);
  if (whole.factor == Factor(1)) {
    together(whole);
    return unite(target, whole.moving.front());
  }
  must_not_move(whole);
  fix(target);
}

}  // namespace loco::verify::liveness
