#include "loco_sim/explore/sharing.hpp"

#include <algorithm>

#include "loco_sim/explore/loops.hpp"

namespace loco::explore {

using namespace model::litmus;

namespace {

bool in_loop(const Thread& t, int pc) {
  return std::any_of(t.code.begin() + pc, t.code.end(),
                     [&](const Instruction& i) { return is_jump(i) && i.jump <= pc; });
}

bool uses(const Program& p, int expr, int reg) {
  if (expr == kNone) return false;
  const Expr& e = at(p.exprs, expr);
  return (e.op == ExprOp::reg && e.reg == reg) || uses(p, e.lhs, reg) || uses(p, e.rhs, reg);
}

/// True for `L: r = x; if (! condition(r)) goto L` where r is not used elsewhere.
bool is_waiting_load(const Program& p, const Thread& t, int pc) {
  const Instruction& load = at(t.code, pc);
  if (load.op != Op::read || pc + 1 >= len(t.code) || !at(t.registers, load.target).temporary) return false;
  const Instruction& branch = at(t.code, pc + 1);
  if (branch.op != Op::branch_zero || branch.jump != pc) return false;
  for (int other = 0; other < len(t.code); ++other) {
    const Instruction& i = at(t.code, other);
    if (other == pc || other == pc + 1) continue;
    if (i.target == load.target || uses(p, i.expr, load.target) || uses(p, i.expr2, load.target)) return false;
    if (is_jump(i) && i.jump == pc + 1) return false;
  }
  return true;
}

/// Calls f(to, from) for each location that the post writes; `from` is the one that is copied, or kNone.
template <class F>
void for_each_write(const Post& post, F f) {
  switch (post.kind) {
    case PostKind::receive:
      return f(post.buffer, kNone);
    case PostKind::cas:
    case PostKind::faa:
      f(post.words.front().remote, kNone);
      return f(post.words.front().local, kNone);
    case PostKind::read:
      return f(post.words.front().local, post.words.front().remote);
    case PostKind::write:
    case PostKind::write_imm:
      for (const Post::Word& w : post.words) f(w.remote, w.local);
      return;
    default:
      return;
  }
}

/// Locations that only ever hold one value, because they are written only by copies of such locations with this value.
std::vector<char> constant_locations(const Program& p) {
  std::vector<char> constant(p.locations.size(), 1);
  const auto init = [&](int l) { return at(p.locations, l).init; };
  const auto written = [&](int l) {
    const bool news = at(constant, l) != 0;
    at(constant, l) = 0;
    return news;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Post& post : p.verbs.posts)
      for_each_write(post, [&](int to, int from) {
        if (from != kNone && at(constant, from) != 0 && init(from) == init(to)) return;
        changed = written(to) || changed;
      });
    for (const Thread& t : p.threads)
      for (const Instruction& i : t.code) {
        const bool copies = i.op == Op::put || i.op == Op::get;
        const bool atomic = is_remote_atomic(i.op);
        if (!copies && !atomic && i.op != Op::write && i.op != Op::cas) continue;
        if (atomic) changed = written(i.source) || changed;
        if (copies && at(constant, i.source) != 0 && init(i.source) == init(i.location)) continue;
        changed = written(i.location) || changed;
      }
  }
  return constant;
}

}  // namespace

Sharing::Sharing(const Program& program) : locations_(program.locations.size()) {
  for (const Observable& o : program.observables) {
    if (o.location != kNone) at(locations_, o.location).observed = true;
    for (const int cell : o.cells) at(locations_, cell).observed = true;
  }
  for (int t = 0; t < len(program.threads); ++t) {
    const auto& code = at(program.threads, t).code;
    commuting_reads_.emplace_back(code.size(), 0);
    waits_on_.emplace_back(code.size(), kNone);
    for (int pc = 0; pc < len(code); ++pc) collect(program, t, pc);
  }
  const std::vector<char> constant = constant_locations(program);
  for (int i = 0; i < len(locations_); ++i) {
    Location& l = at(locations_, i);
    const bool one_value = at(constant, i) != 0;
    const bool once = l.writes.size() == 1 && !l.writes.front().repeated;
    const bool in_order = handed_on_in_order(l);
    l.nic_reads_commute = one_value || in_order;
    l.writes_commute = one_value || in_order || only_waited_for(l) || (l.reads.empty() && (!l.observed || once));
    for (const Access& r : l.reads) {
      if (r.kind != Kind::load && r.kind != Kind::waiting_load) continue;
      const bool own = std::all_of(l.writes.begin(), l.writes.end(),
                                   [&](const Access& w) { return w.thread == r.thread && w.kind == Kind::store; });
      if (one_value || own || in_order || only_waited_for(l)) at(at(commuting_reads_, r.thread), r.pc) = 1;
    }
  }
}

void Sharing::collect(const Program& program, int thread, int pc) {
  const Thread& t = at(program.threads, thread);
  const Instruction& i = at(t.code, pc);
  const bool waiting = is_waiting_load(program, t, pc);
  Access a{.thread = thread, .pc = pc, .repeated = in_loop(t, pc)};
  const auto as = [&a](Kind kind) {
    a.kind = kind;
    return a;
  };
  switch (i.op) {
    case Op::read:
      add(i.location, as(waiting ? Kind::waiting_load : Kind::load));
      if (waiting) at(at(waits_on_, thread), pc + 1) = pc;
      break;
    case Op::write:
      add(i.location, as(Kind::store));
      break;
    case Op::cas:
      add(i.location, as(Kind::compare_swap));
      break;
    case Op::put:
      add(i.source, as(Kind::put_source));
      add(i.location, as(Kind::put_target));
      break;
    case Op::get:
      add(i.source, as(Kind::get_source));
      add(i.location, as(Kind::get_target));
      break;
    case Op::rcas:
    case Op::rfaa:
    case Op::rga:
    case Op::remote_cas:
      if (i.operand != kNone) add(i.operand, as(Kind::operand));
      if (i.operand2 != kNone) add(i.operand2, as(Kind::operand));
      add(i.source, as(Kind::remote_atomic));
      add(i.location, as(Kind::get_target));
      break;
    case Op::verbs:
      add(at(program.verbs.posts, i.object), a);
      break;
    default:
      break;
  }
}

/// A receive's buffer is written by the sender.
void Sharing::add(const Post& post, Access a) {
  const bool atomic = post.kind == PostKind::cas || post.kind == PostKind::faa;
  const bool reads = atomic || post.kind == PostKind::read;
  for_each_write(post, [&](int to, int) {
    a.kind = atomic && to == post.words.front().remote ? Kind::remote_atomic : Kind::put_target;
    add(to, a);
  });
  a.kind = reads ? Kind::get_source : Kind::put_source;
  for (const Post::Word& w : post.words)
    if (!atomic) add(reads ? w.remote : w.local, a);
}

void Sharing::add(int location, const Access& access) {
  Location& l = at(locations_, location);
  const Kind k = access.kind;
  const bool both = k == Kind::compare_swap || k == Kind::remote_atomic;
  const bool writes = k == Kind::store || k == Kind::put_target || k == Kind::get_target;
  if (writes || both) l.writes.push_back(access);
  if (!writes || both) l.reads.push_back(access);
}

bool Sharing::handed_on_in_order(const Location& l) {
  if (l.writes.size() != 1) return false;
  const Access& w = l.writes.front();
  if (w.kind != Kind::store || w.repeated) return false;
  return std::all_of(l.reads.begin(), l.reads.end(), [&](const Access& r) {
    if (r.thread != w.thread) return false;
    return r.kind == Kind::load || r.kind == Kind::waiting_load ||
           ((r.kind == Kind::put_source || r.kind == Kind::operand) && r.pc > w.pc && !r.repeated);
  });
}

bool Sharing::only_waited_for(const Location& l) {
  return l.writes.size() == 1 && !l.writes.front().repeated && !l.reads.empty() &&
         std::all_of(l.reads.begin(), l.reads.end(), [](const Access& r) { return r.kind == Kind::waiting_load; });
}

bool Sharing::cpu_read_commutes(int thread, int pc) const { return at(at(commuting_reads_, thread), pc) != 0; }

bool Sharing::loop_commutes(int thread, int pc) const {
  const int load = at(at(waits_on_, thread), pc);
  return load != kNone && cpu_read_commutes(thread, load);
}

bool Sharing::nic_reads_commute(int location) const {
  return location != kNone && at(locations_, location).nic_reads_commute;
}

bool Sharing::writes_commute(int location) const {
  return location != kNone && at(locations_, location).writes_commute;
}

}  // namespace loco::explore
