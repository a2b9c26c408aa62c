#include "loco_sim/explore/loops.hpp"

#include <algorithm>

namespace loco::explore {

using namespace model::litmus;

namespace {

/// True if it does not access memory except to read it, or to swap.
bool only_looks(const Instruction& i) {
  return is_jump(i) || i.op == Op::read || i.op == Op::cas || i.op == Op::mfence || i.op == Op::rfence ||
         i.op == Op::assertion;
}

/// Calls f with each register of the expression.
template <class F>
void for_each_register(const Program& p, int expr, F f) {
  if (expr == kNone) return;
  const Expr& e = at(p.exprs, expr);
  if (e.op == ExprOp::reg) f(e.reg);
  for_each_register(p, e.lhs, f);
  for_each_register(p, e.rhs, f);
}

/// True if a turn uses a register that the previous turn has read. For [begin, end] with forward jumps only and no
/// swaps.
bool looks_back(const Program& p, const Thread& t, int begin, int end) {
  std::vector<char> read_now(t.registers.size(), 0), used_before(t.registers.size(), 0);
  bool certain = true;  // every turn executes this instruction
  for (int pc = begin; pc <= end; ++pc) {
    const Instruction& i = at(t.code, pc);
    for_each_register(p, i.expr, [&](int reg) {
      if (at(read_now, reg) == 0) at(used_before, reg) = 1;
    });
    if (is_jump(i) && i.jump > pc && i.jump <= end) certain = false;
    if (certain && i.target != kNone) at(read_now, i.target) = 1;
  }
  return std::any_of(t.code.begin() + begin, t.code.begin() + end,
                     [&](const Instruction& i) { return i.target != kNone && at(used_before, i.target) != 0; });
}

Loop kind_of(const Program& p, const Thread& t, int begin, int end) {
  const auto any = [&](auto predicate) { return std::any_of(t.code.begin() + begin, t.code.begin() + end, predicate); };
  if (any([](const Instruction& i) { return !only_looks(i); })) return Loop::acts;
  if (any([](const Instruction& i) { return i.op == Op::cas; })) return Loop::searches;
  for (int pc = begin; pc < end; ++pc)
    if (is_jump(at(t.code, pc)) && at(t.code, pc).jump <= pc) return Loop::searches;
  return looks_back(p, t, begin, end) ? Loop::searches : Loop::awaits;
}

}  // namespace

Loops::Loops(const Program& program) {
  for (const Thread& t : program.threads) {
    std::vector<Loop>& kinds = kinds_.emplace_back(t.code.size(), Loop::acts);
    for (int end = 0; end < len(t.code); ++end)
      if (is_jump(at(t.code, end)) && at(t.code, end).jump <= end)
        at(kinds, end) = kind_of(program, t, at(t.code, end).jump, end);
  }
}

}  // namespace loco::explore
