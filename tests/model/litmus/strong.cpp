// The strong model as a machine: one access after the other, every interleaving, with a set of visited states.
#include <set>
#include <utility>
#include <vector>

#include "tests/model/litmus/reference.hpp"

namespace loco::model::litmus::test {
namespace {

struct StrongThread {
  int pc = 0;
  int part = 0;  // accesses of the statement that have taken effect
  Value carried = 0;
  std::vector<Value> registers;
  std::vector<std::pair<int, int>> posted;  // by node: operations that no poll has taken
  auto operator<=>(const StrongThread&) const = default;
};
struct StrongState {
  std::vector<Value> memory;
  std::vector<StrongThread> threads;
  auto operator<=>(const StrongState&) const = default;
};

class Strong {
 public:
  Strong(const Program& p, std::uint64_t limit) : p_(p), limit_(limit) {}

  ReferenceResult run() {
    StrongState s;
    for (const Location& l : p_.locations) s.memory.push_back(l.init);
    for (const Thread& t : p_.threads) {
      StrongThread thread;
      thread.registers.assign(t.registers.size(), 0);
      for (const int n : p_.nodes) thread.posted.emplace_back(n, 0);
      s.threads.push_back(std::move(thread));
    }
    push(s);
    while (!work_.empty() && !result_.gave_up) {
      const StrongState next = work_.back();
      work_.pop_back();
      bool done = true;
      for (int t = 0; t < len(next.threads); ++t) {
        if (at(next.threads, t).pc == len(at(p_.threads, t).code)) continue;
        done = false;
        step(next, t);
      }
      if (done) note(next);
    }
    result_.outcomes.assign(outcomes_.begin(), outcomes_.end());
    return result_;
  }

 private:
  void push(const StrongState& s) {
    if (!seen_.insert(s).second) return;
    if (seen_.size() > limit_) result_.gave_up = true;
    work_.push_back(s);
  }
  void note(const StrongState& s) {
    Outcome o;
    for (const Observable& x : p_.observables)
      o.push_back(x.thread != kNone ? at(at(s.threads, x.thread).registers, x.reg) : at(s.memory, x.location));
    outcomes_.insert(o);
  }
  Value eval(const StrongThread& t, int e) const {
    const Expr& x = at(p_.exprs, e);
    if (x.op == ExprOp::constant) return x.constant;
    if (x.op == ExprOp::reg) return at(t.registers, x.reg);
    return apply(x.op, eval(t, x.lhs), x.rhs == kNone ? 0 : eval(t, x.rhs));
  }
  static int& posted(StrongThread& t, int node) {
    for (auto& [n, count] : t.posted)
      if (n == node) return count;
    return t.posted.emplace_back(node, 0).second;
  }

  void step(const StrongState& s, int t) {
    StrongState next = s;
    StrongThread& me = at(next.threads, t);
    const Instruction& i = at(at(p_.threads, t).code, me.pc);
    const auto end = [&] {
      me.part = 0;
      me.carried = 0;
      ++me.pc;
    };
    const auto word = [&](int location) -> Value& { return at(next.memory, location); };
    const bool copies = i.op == Op::put || i.op == Op::get;
    const bool atomic = i.op == Op::rcas || i.op == Op::rfaa;
    if ((copies || atomic) && me.part == 0) {
      me.carried = word(i.source);
      if (i.op == Op::rfaa) word(i.source) = me.carried + eval(me, i.expr);
      if (i.op == Op::rcas && me.carried == eval(me, i.expr)) word(i.source) = eval(me, i.expr2);
      ++posted(me, i.node);
      me.part = 1;
    } else if (copies || atomic) {
      word(i.location) = me.carried;
      end();
    } else {
      switch (i.op) {
        case Op::assign:
          at(me.registers, i.target) = eval(me, i.expr);
          break;
        case Op::read:
          at(me.registers, i.target) = word(i.location);
          break;
        case Op::write:
          word(i.location) = eval(me, i.expr);
          break;
        case Op::cas: {
          const Value old = word(i.location);
          if (old == eval(me, i.expr)) word(i.location) = eval(me, i.expr2);
          at(me.registers, i.target) = old;
          break;
        }
        case Op::poll:
          if (--posted(me, i.node) < 0) return;
          break;
        default:  // fences and waits do nothing
          break;
      }
      end();
    }
    push(next);
  }

  const Program& p_;
  std::uint64_t limit_;
  std::vector<StrongState> work_;
  std::set<StrongState> seen_;
  std::set<Outcome> outcomes_;
  ReferenceResult result_;
};

}  // namespace

ReferenceResult strong(const Program& program, std::uint64_t states_max) { return Strong(program, states_max).run(); }

}  // namespace loco::model::litmus::test
