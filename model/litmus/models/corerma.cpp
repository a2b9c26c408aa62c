// coreRMA: coreRMA paper, Fig. 4 and Section 7, as far as the rules of the set go (rule_set.hpp). Every rule adds to
// hb, which here is `so`; there is no ib.
//
// With all accesses atomic, WS makes hb total on the writes of a location, so mo is that order and R1 is rb. Without WS
// there is no mo, and R1 goes by hb alone.
// R1 is read with r != w2: an erw is ordered before later writes, not before itself.
#include <algorithm>

#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {
namespace {

class Statements {
 public:
  explicit Statements(const Skeleton& x) : x_(x) {}

  [[nodiscard]] Action action(int i) const { return x_.sub(i).action; }
  [[nodiscard]] Op op(int i) const { return x_.instruction(x_.sub(i).event).op; }
  /// The target of a remote statement or flush.
  [[nodiscard]] int dst(int i) const { return x_.instruction(x_.sub(i).event).node; }
  [[nodiscard]] int src(int i) const { return at(x_.program->threads, x_.sub(i).thread).node; }
  [[nodiscard]] bool is_local(int i) const { return action(i) == Action::r || action(i) == Action::w; }
  [[nodiscard]] bool is_external(int i) const {
    return action(i) == Action::er || action(i) == Action::ew || action(i) == Action::erw;
  }
  /// Remote: the action of the statement on the target's memory.
  [[nodiscard]] bool is_remote(int i) const {
    return (op(i) == Op::put && action(i) == Action::ew) || (op(i) == Op::get && action(i) == Action::er) ||
           action(i) == Action::erw;
  }
  [[nodiscard]] bool is_put_source(int i) const { return op(i) == Op::put && action(i) == Action::er; }
  [[nodiscard]] bool is_atomic(int i) const { return op(i) == Op::rga || op(i) == Op::remote_cas; }
  [[nodiscard]] bool is_operand(int i) const { return is_atomic(i) && action(i) == Action::er; }
  /// The actions that write to its own process.
  [[nodiscard]] bool is_result(int i) const { return op(i) != Op::put && action(i) == Action::ew; }

 private:
  const Skeleton& x_;
};

/// The rule that orders the actions of one statement.
Rule inner_rule(Op op) { return op == Op::rga ? Rule::ga : op == Op::remote_cas ? Rule::cas : Rule::pg; }

/// Whether the network keeps the program order of these two remote actions on one target.
bool routed(const Statements& s, RuleSet rules, int i, int j) {
  if (s.dst(i) == s.src(i) && !rules.has(Rule::so)) return false;
  if (rules.has(Rule::ir)) return true;
  if (s.is_atomic(j)) return rules.has(s.op(i) == Op::get ? Rule::gta : Rule::pta);
  if (s.is_atomic(i)) return rules.has(Rule::ao);
  if (s.op(i) == Op::put) return rules.has(s.op(j) == Op::put ? Rule::pp : Rule::ptg);
  return rules.has(s.op(j) == Op::put ? Rule::gtp : Rule::gg);
}

/// Is a flush before a later action?
bool flushed(const Statements& s, RuleSet rules, int flush, int j) {
  if (rules.has(Rule::fa)) return true;
  if (s.is_local(j)) return rules.has(Rule::f1);
  if (rules.has(Rule::sr) && s.is_put_source(j)) return true;
  if (rules.has(Rule::oa) && s.is_operand(j)) return true;
  return rules.has(Rule::f3) && s.is_external(j) && s.dst(flush) == s.dst(j);
}

/// Is i, earlier in program order and of another statement, before j by the rules of the set?
bool ordered(const Statements& s, RuleSet rules, int i, int j) {
  if (s.is_local(i)) return rules.has(Rule::lo);
  if (s.action(i) == Action::flush) return flushed(s, rules, i, j);
  if (rules.has(Rule::sr) && s.is_put_source(i)) return true;
  if (rules.has(Rule::oa) && s.is_operand(i)) return true;
  if (s.is_local(j) || s.dst(i) != s.dst(j)) return false;
  if (s.action(j) == Action::flush) return rules.has(Rule::f2);
  if (rules.has(Rule::sf) && (s.is_put_source(i) || s.is_operand(i))) return true;
  if (rules.has(Rule::rl) && s.is_result(j)) return true;
  return s.is_remote(i) && s.is_remote(j) && routed(s, rules, i, j);
}

/// Has the set an rga that is one step? It has its order inside.
bool is_step(const Statements& s, RuleSet rules, int i) { return rules.has(Rule::at) && s.op(i) == Op::rga; }

/// Is i before j, both of one statement, i the first of them in program order?
/// PG, GA, CAS: er before erw before ew. The two operands of a CAS are read in any order: Fig. 4 has po between them,
/// and hb from each of them to erw.
bool ordered_inside(const Statements& s, RuleSet rules, int i, int j) {
  return s.is_external(i) && s.action(j) != Action::er && (is_step(s, rules, i) || rules.has(inner_rule(s.op(i))));
}

void order_statements(const Skeleton& x, RuleSet rules, Axioms& a) {
  const Statements s(x);
  for (int i = 0; i < x.n; ++i) {
    for (int j = i + 1; j < x.n && x.sub(j).event == x.sub(i).event; ++j)
      if (ordered_inside(s, rules, i, j)) a.so.add(i, j);
    x.po.row(i).for_each([&](int j) {
      if (x.sub(i).event != x.sub(j).event && ordered(s, rules, i, j)) a.so.add(i, j);
    });
    if (is_step(s, rules, i) && s.action(i) == Action::er) a.steps.emplace_back(i, i + x.event_of(i).count - 1);
  }
}

}  // namespace

std::vector<RuleSet> core_reasons(const Skeleton& x, RuleSet rules, int i, int j) {
  const Statements s(x);
  const bool inside = x.sub(i).event == x.sub(j).event;
  const auto orders = [&](RuleSet some) { return inside ? ordered_inside(s, some, i, j) : ordered(s, some, i, j); };
  std::vector<RuleSet> reasons;
  const std::vector<Rule> all = rules.rules();
  for (const Rule r : all)
    if (orders({r})) reasons.push_back({r});
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const RuleSet pair = {all[a], all[b]};
      if (orders(pair) && std::ranges::none_of(reasons, [&](RuleSet r) { return pair.includes(r); }))
        reasons.push_back(pair);
    }
  return reasons;
}

void corerma(const Skeleton& x, RuleSet rules, Axioms& a) {
  a.rules = rules;
  order_statements(x, rules, a);
  Set atomic;
  for (int i = 0; i < x.n; ++i) {
    if (x.sub(i).atomic) atomic.insert(i);
    if (!x.sub(i).atomic && x.sub(i).cell != kNone) a.conflicts = true;
  }
  const Relation& cells = x.same_cell;
  a.rf |= cells.from(x.writes).to(x.reads);
  const Relation atomics = cells.from(atomic).to(atomic);
  a.r1 = rules.has(Rule::r1);
  a.r2 = rules.has(Rule::r2);
  if (a.r2) a.rf_so |= atomics.from(x.writes).to(x.reads);
  if (a.r1) a.rb_so |= atomics.from(x.reads).to(x.writes);
  if (rules.has(Rule::ws)) a.mo |= atomics.from(x.writes).to(x.writes);
  a.rb_from_hb = a.r1 && !rules.has(Rule::ws);
  a.values_may_cycle = !rules.includes({Rule::r2, Rule::pg, Rule::ga, Rule::cas});
}

}  // namespace loco::model::litmus
