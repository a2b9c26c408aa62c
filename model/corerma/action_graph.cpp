#include "model/corerma/action_graph.hpp"

#include <algorithm>

namespace loco::model::corerma {
namespace {

/// The later actions of a process, grouped as the rules name them.
struct Later {
  using ByTarget = std::array<Actions, kHostsMax>;

  Actions all = 0;
  Actions local = 0;
  Actions put_sources = 0;
  Actions operands = 0;                             ///< actions by which rga and cas read their operands
  ByTarget external{}, flushes{};                   ///< all of a statement's
  ByTarget on_target{}, puts{}, gets{}, atomics{};  ///< Remote actions
  ByTarget results{};                               ///< actions by which statements write results to their process
};

class Builder {
 public:
  Builder(const Program& program, RuleSet rules, Rule pivot, ActionGraph& graph)
      : program_(program), rules_(rules), pivot_(pivot), g_(graph) {}

  void run() {
    g_.n = 0;
    g_.variables = program_.variables;
    g_.steps = false;
    for (int v = 0; v < g_.variables; ++v) g_.of_variable[index(v)] = {};
    for (int i = 0; i < program_.count; ++i) {
      g_.first[index(i)] = static_cast<std::int8_t>(g_.n);
      number(program_.statement(i));
      for (int k = g_.first[index(i)]; k < g_.n; ++k) g_.statement[index(k)] = static_cast<std::int8_t>(i);
    }
    for (int p = 0; p < program_.processes; ++p) {
      Later later;
      for (int i = program_.end_of(p) - 1; i >= program_.begin_of(p); --i) {
        order(program_.statement(i), g_.first[index(i)], later, p);
        add(later, program_.statement(i), g_.first[index(i)]);
      }
    }
  }

 private:
  void action(std::int8_t variable, bool reads, bool writes) {
    const int i = g_.n++;
    g_.after[index(i)] = g_.pivot_after[index(i)] = 0;
    g_.variable[index(i)] = variable;
    g_.step_first[index(i)] = g_.step_last[index(i)] = static_cast<std::int8_t>(i);
    if (variable == kNobody) return;
    ActionGraph::Variable& v = g_.of_variable[index(variable)];
    if (reads) v.reads |= bit(i);
    if (writes) v.writers |= bit(i);
  }

  void number(const Statement& s) {
    const int first = g_.n;
    switch (s.kind) {
      case Kind::read:
        action(s.local, true, false);
        g_.of_variable[index(s.local)].local_reads |= bit(first);
        break;
      case Kind::write:
        action(s.local, false, true);
        break;
      case Kind::get:
        action(s.remote, true, false);
        action(s.local, false, true);
        break;
      case Kind::put:
        action(s.local, true, false);
        action(s.remote, false, true);
        break;
      case Kind::cas:
      case Kind::rga:
        action(s.operand, true, false);
        if (s.kind == Kind::cas) action(s.operand2, true, false);
        action(s.remote, true, true);
        action(s.local, false, true);
        break;
      case Kind::flush:
        action(kNobody, false, false);
    }
    if (s.kind != Kind::rga || !rules_.has(Rule::at)) return;
    g_.steps = true;
    for (int i = first; i < g_.n; ++i) {
      g_.step_first[index(i)] = static_cast<std::int8_t>(first);
      g_.step_last[index(i)] = static_cast<std::int8_t>(g_.n - 1);
    }
  }

  /// The Remote action of a statement: the one on the target's memory.
  static int remote_action(Kind kind, int first) {
    return kind == Kind::get ? first : kind == Kind::cas ? first + 2 : first + 1;
  }

  static bool is_atomic(Kind kind) { return kind == Kind::rga || kind == Kind::cas; }

  static void add(Later& later, const Statement& s, int first) {
    const Actions own = (bit(actions(s.kind)) - 1) << static_cast<unsigned>(first);
    later.all |= own;
    if (s.kind == Kind::read || s.kind == Kind::write) later.local |= own;
    if (s.kind == Kind::flush) later.flushes[index(s.host)] |= own;
    if (!is_remote(s.kind)) return;
    const Actions remote = bit(remote_action(s.kind, first));
    later.external[index(s.host)] |= own;
    later.on_target[index(s.host)] |= remote;
    (s.kind == Kind::put ? later.puts : s.kind == Kind::get ? later.gets : later.atomics)[index(s.host)] |= remote;
    if (s.kind == Kind::put)
      later.put_sources |= bit(first);
    else
      later.results[index(s.host)] |= bit(first + actions(s.kind) - 1);
    if (is_atomic(s.kind)) later.operands |= own & (remote - 1);
  }

  void induce(Rule rule, int from, Actions to) {
    if (rules_.has(rule)) g_.after[index(from)] |= to;
    if (rule == pivot_) g_.pivot_after[index(from)] |= to;
  }

  /// Adds the edges of the rules that order remote actions on one target.
  void route(const Statement& s, int remote, const Later& later, int process) {
    const auto to = [&](const Later::ByTarget& set) { return set[index(s.host)]; };
    const bool to_self = s.host == process;
    if (to_self && !rules_.has(Rule::so) && pivot_ != Rule::so) return;
    const auto keep = [&](Rule rule, Actions others) {
      if (!to_self) return induce(rule, remote, others);
      if (!rules_.has(rule)) return;
      induce(Rule::so, remote, others);  // two rules are behind such an edge: either is the pivot
      if (rule == pivot_ && rules_.has(Rule::so)) g_.pivot_after[index(remote)] |= others;
    };
    keep(Rule::ir, to(later.on_target));
    keep(s.kind == Kind::get ? Rule::gta : Rule::pta, to(later.atomics));
    if (is_atomic(s.kind)) keep(Rule::ao, to(later.on_target) & ~to(later.atomics));
    if (s.kind == Kind::put) {
      keep(Rule::pp, to(later.puts));
      keep(Rule::ptg, to(later.gets));
    } else if (s.kind == Kind::get) {
      keep(Rule::gg, to(later.gets));
      keep(Rule::gtp, to(later.puts));
    }
  }

  void order(const Statement& s, int first, const Later& later, int process) {
    if (s.kind == Kind::read || s.kind == Kind::write) {
      induce(Rule::lo, first, later.all);
      return;
    }
    if (s.kind == Kind::flush) {
      induce(Rule::f1, first, later.local);
      induce(Rule::f3, first, later.external[index(s.host)]);
      induce(Rule::sr, first, later.put_sources);
      induce(Rule::oa, first, later.operands);
      induce(Rule::fa, first, later.all);
      return;
    }
    const int remote = remote_action(s.kind, first), last = first + actions(s.kind) - 1;
    for (int i = first; i <= last; ++i) induce(Rule::f2, i, later.flushes[index(s.host)]);
    for (int i = first; i <= last; ++i) induce(Rule::rl, i, later.results[index(s.host)]);
    route(s, remote, later, process);
    if (s.kind == Kind::put) induce(Rule::sr, first, later.all);
    if (s.kind == Kind::put) induce(Rule::sf, first, later.external[index(s.host)]);
    for (int i = first; is_atomic(s.kind) && i < remote; ++i) {
      induce(Rule::oa, i, later.all);
      induce(Rule::sf, i, later.external[index(s.host)]);
    }
    const Rule inner = s.kind == Kind::rga ? Rule::ga : s.kind == Kind::cas ? Rule::cas : Rule::pg;
    // er hb erw hb ew, pair by pair: what follows from two of them is no edge of the rule.
    for (int i = first; i + 2 < last; ++i) induce(inner, i, bit(last - 1));  // the first operand of a cas
    for (int i = std::max(first, last - 2); i < last; ++i) induce(inner, i, bit(i + 1));
    if (s.kind == Kind::rga)  // one step has its order inside
      for (int i = first; i < last; ++i) induce(Rule::at, i, bit(i + 1));
  }

  const Program& program_;
  RuleSet rules_;
  Rule pivot_;
  ActionGraph& g_;
};

}  // namespace

void ActionGraph::build(const Program& program, RuleSet rules, Rule pivot) {
  Builder(program, rules, pivot, *this).run();
}

}  // namespace loco::model::corerma
