// Interprets a thread's code with symbolic values, once for each way through it.
#include <algorithm>
#include <utility>

#include "model/litmus/skeleton.hpp"

namespace loco::model::litmus {
namespace {

struct State {
  ThreadPath path;
  std::vector<int> back_jumps;  // per instruction, times taken
  int pc = 0;
};

class PathBuilder {
 public:
  PathBuilder(const Program& program, const Cells& cells, int thread, const PathOptions& options)
      : program_(program), cells_(cells), thread_(thread), self_(at(program.threads, thread)), options_(options) {}

  ThreadPaths run() {
    State start;
    start.path.registers.assign(self_.registers.size(), symbol(start.path, {}));
    start.back_jumps.assign(self_.code.size(), 0);
    pending_.push_back(std::move(start));
    while (!pending_.empty()) {
      if (len(result_.paths) >= options_.paths_max || symbols_ > options_.symbols_max) {
        result_.too_large.paths = true;
        break;
      }
      State s = std::move(pending_.back());
      pending_.pop_back();
      if (!interpret(s)) continue;
      symbols_ += len(s.path.symbols);
      result_.paths.push_back(std::move(s.path));
    }
    // Forks are taken depth first with the second branch first: restore the order of the code.
    std::reverse(result_.paths.begin(), result_.paths.end());
    return std::move(result_);
  }

 private:
  // --- symbols ---
  static int symbol(ThreadPath& p, Symbol s) {
    p.symbols.push_back(s);
    return len(p.symbols) - 1;
  }
  static int constant(ThreadPath& p, Value v) {
    Symbol s;
    s.constant = v;
    return symbol(p, s);
  }
  static int read_of(ThreadPath& p, int sub) {
    Symbol s;
    s.kind = Symbol::Kind::read;
    s.a = sub;
    return symbol(p, s);
  }
  static int operation(ThreadPath& p, ExprOp op, int a, int b) {
    const Symbol& sa = at(p.symbols, a);
    const bool unary = b == kNone;
    if (sa.kind == Symbol::Kind::constant && (unary || at(p.symbols, b).kind == Symbol::Kind::constant))
      return constant(p, apply(op, sa.constant, unary ? 0 : at(p.symbols, b).constant));
    Symbol s;
    s.kind = Symbol::Kind::op;
    s.op = op;
    s.a = a;
    s.b = b;
    s.weight = 1 + sa.weight + (unary ? 0 : at(p.symbols, b).weight);
    return symbol(p, s);
  }
  int evaluate(ThreadPath& p, int expr) const {
    const Expr& e = at(program_.exprs, expr);
    if (e.op == ExprOp::constant) return constant(p, e.constant);
    if (e.op == ExprOp::reg) return at(p.registers, e.reg);
    const int a = evaluate(p, e.lhs);
    return operation(p, e.op, a, e.rhs == kNone ? kNone : evaluate(p, e.rhs));
  }

  // --- events ---
  int begin_event(ThreadPath& p, int instruction) const {
    p.events.push_back({thread_, instruction, len(p.subevents), 0, 0});
    return len(p.events) - 1;
  }
  SubEvent make(const ThreadPath& p, Stamp stamp, Library library, int node = 0) const {
    SubEvent s;
    s.stamp = stamp;
    s.library = library;
    s.thread = static_cast<std::int16_t>(thread_);
    s.event = static_cast<std::int16_t>(len(p.events) - 1);
    s.node = node;
    return s;
  }
  static int add(ThreadPath& p, const SubEvent& s) {
    p.subevents.push_back(s);
    ++p.events.back().count;
    return len(p.subevents) - 1;
  }
  int add_fence(ThreadPath& p, Stamp stamp, Library library, int node = 0) const {
    return add(p, make(p, stamp, library, node));
  }
  /// A read of a cell; returns the symbol of its value.
  int add_read(ThreadPath& p, SubEvent s, int cell) const {
    s.reads = true;
    s.cell = cell;
    return read_of(p, add(p, s));
  }
  void add_write(ThreadPath& p, SubEvent s, int cell, int value) const {
    s.writes = true;
    s.cell = cell;
    s.value = static_cast<std::int16_t>(value);
    add(p, s);
  }

  /// Runs to the end of the code. False when the path is cut off. Forks push the other branch on pending_.
  bool interpret(State& s) {
    while (s.pc < len(self_.code)) {
      // A statement has at most some thousand symbols more.
      const bool arithmetic = len(s.path.symbols) > kPathSymbolsMax ||
                              (!s.path.symbols.empty() && s.path.symbols.back().weight > options_.weight_max);
      if (len(s.path.subevents) > kSubeventsMax || arithmetic) {
        result_.too_large.arithmetic = result_.too_large.arithmetic || arithmetic;
        if (!arithmetic) result_.too_large.subevents = std::max(result_.too_large.subevents, len(s.path.subevents));
        return false;
      }
      const Instruction& i = at(self_.code, s.pc);
      if (i.op == Op::jump || i.op == Op::branch_zero || i.op == Op::assertion) {
        if (!control(s, i)) return false;
        continue;
      }
      options_.core_rma ? core_step(s, i) : step(s, i);
      ++s.pc;
    }
    return true;
  }

  bool control(State& s, const Instruction& i) {
    if (i.op == Op::jump) return go_to(s, i.jump);
    const int condition = evaluate(s.path, i.expr);
    const int instruction = s.pc;
    ++s.pc;
    const Symbol c = at(s.path.symbols, condition);
    // What the other value of the condition leads to; false when the path is cut off.
    const auto go = [&](State& to, bool nonzero) {
      if (nonzero) return true;
      if (i.op == Op::branch_zero) return go_to(to, i.jump, instruction);
      to.path.violated.push_back(instruction);
      return true;
    };
    if (c.kind == Symbol::Kind::constant) return go(s, number(c.constant) != 0);
    State zero = s;
    zero.path.conditions.push_back({condition, false});
    if (go(zero, false)) pending_.push_back(std::move(zero));
    s.path.conditions.push_back({condition, true});
    return true;
  }

  /// Jumps from the instruction at `from` (the current one by default); back only as often as loops may repeat.
  bool go_to(State& s, int target, int from = kNone) {
    if (from == kNone) from = s.pc;
    if (target <= from && ++at(s.back_jumps, from) > options_.loop_bound) {
      result_.cut_loops = true;
      return false;
    }
    s.pc = target;
    return true;
  }

  void step(State& s, const Instruction& i) {
    ThreadPath& p = s.path;
    if (i.op == Op::assign) {
      at(p.registers, i.target) = evaluate(p, i.expr);
      return;
    }
    switch (i.op) {
      case Op::cas:
        return cas(s, i);
      case Op::submit:
        return submit(s, i);
      case Op::receive:
        return receive(s, i);
      case Op::tuple_read:
        return tuple_read(s, i);
      default:
        break;
    }
    const int value = i.op == Op::write || i.op == Op::tuple_write ? evaluate(p, i.expr) : kNone;
    begin_event(p, s.pc);
    switch (i.op) {
      case Op::read:
        at(p.registers, i.target) = add_read(p, make(p, Stamp::aCR, i.library), cell(i.location));
        break;
      case Op::write:
      case Op::tuple_write:
        add_write(p, make(p, Stamp::aCW, i.library), cell(i.location), value);
        break;
      case Op::mfence:
        add_fence(p, Stamp::aMF, i.library);
        break;
      case Op::put: {
        const int n = at(program_.locations, i.location).node;
        const int v = add_read(p, make(p, Stamp::aNLR, i.library, n), cell(i.source));
        add_write(p, make(p, Stamp::aNRW, i.library, n), cell(i.location), v);
        break;
      }
      case Op::get: {
        const int n = at(program_.locations, i.source).node;
        const int v = add_read(p, make(p, Stamp::aNRR, i.library, n), cell(i.source));
        add_write(p, make(p, Stamp::aNLW, i.library, n), cell(i.location), v);
        break;
      }
      case Op::wait:
      case Op::poll:
        add_fence(p, Stamp::aWT, i.library, i.op == Op::poll ? i.node : 0);
        break;
      case Op::rfence:
        add_fence(p, Stamp::aRF, i.library, i.node);
        break;
      case Op::bcast:
        for (const int n : i.nodes) {
          const int v = add_read(p, make(p, Stamp::aNLR, i.library, n), cell(i.location));
          add_write(p, make(p, Stamp::aNRW, i.library, n), cells_.cell(i.location, n), v);
        }
        break;
      case Op::gf:
        for (const int n : i.nodes) add_fence(p, Stamp::aGF, i.library, n);
        break;
      case Op::barrier:
        barrier(p, i);
        break;
      default:
        break;
    }
  }

  int cell(int location) const { return cells_.cell(location, self_.node); }

  void barrier(ThreadPath& p, const Instruction& i) const {
    const Barrier& b = at(program_.barriers, i.object);
    std::vector<int> nodes = program_.nodes;
    if (!b.transitive && !options_.transitive_barriers) {
      nodes.clear();
      for (const int t : b.participants) nodes.push_back(at(program_.threads, t).node);
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    }
    for (const int n : nodes) add_fence(p, Stamp::aGF, i.library, n);
    add_fence(p, Stamp::aCR, i.library);
  }

  void cas(State& s, const Instruction& i) {
    const int expected = evaluate(s.path, i.expr);
    const int desired = evaluate(s.path, i.expr2);
    begin_event(s.path, s.pc);
    State failed = s;
    {
      ThreadPath& p = failed.path;
      add_fence(p, Stamp::aMF, i.library);
      const int v = add_read(p, make(p, Stamp::aCR, i.library), cell(i.location));
      p.conditions.push_back({operation(p, ExprOp::eq, v, expected), false});
      at(p.registers, i.target) = v;
      ++failed.pc;
      pending_.push_back(std::move(failed));
    }
    ThreadPath& p = s.path;
    SubEvent both = make(p, Stamp::aCAS, i.library);
    both.writes = true;
    both.value = static_cast<std::int16_t>(desired);
    const int v = add_read(p, both, cell(i.location));
    p.conditions.push_back({operation(p, ExprOp::eq, v, expected), true});
    at(p.registers, i.target) = v;
  }

  void submit(State& s, const Instruction& i) {
    const RingBuffer& ring = at(program_.ringbuffers, i.object);
    const int value = evaluate(s.path, i.expr);
    begin_event(s.path, s.pc);
    State refused = s;
    add_fence(refused.path, Stamp::aWT, i.library);
    refused.path.events.back().result = kFalse;
    at(refused.path.registers, i.target) = constant(refused.path, kFalse);
    ++refused.pc;
    pending_.push_back(std::move(refused));

    ThreadPath& p = s.path;
    p.events.back().result = kTrue;
    std::vector<int> nodes;
    for (const int t : ring.readers) nodes.push_back(at(program_.threads, t).node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    SubEvent w = make(p, Stamp::aCW, i.library);
    w.value = static_cast<std::int16_t>(value);
    add(p, w);
    for (const int n : nodes) {
      if (n == self_.node) continue;
      w.stamp = Stamp::aNRW;
      w.node = n;
      add(p, w);
    }
    at(p.registers, i.target) = constant(p, kTrue);
  }

  void receive(State& s, const Instruction& i) {
    begin_event(s.path, s.pc);
    State none = s;
    add_fence(none.path, Stamp::aWT, i.library);
    none.path.events.back().result = kEmpty;
    at(none.path.registers, i.target) = constant(none.path, kEmpty);
    ++none.pc;
    pending_.push_back(std::move(none));

    ThreadPath& p = s.path;
    p.events.back().result = kTrue;
    at(p.registers, i.target) = read_of(p, add(p, make(p, Stamp::aCR, i.library)));
  }

  void tuple_read(State& s, const Instruction& i) {
    begin_event(s.path, s.pc);
    State torn = s;
    add_fence(torn.path, Stamp::aWT, i.library);
    torn.path.events.back().result = kBottom;
    at(torn.path.registers, i.target) = constant(torn.path, kBottom);
    ++torn.pc;
    pending_.push_back(std::move(torn));

    s.path.events.back().result = kTrue;
    at(s.path.registers, i.target) = add_read(s.path, make(s.path, Stamp::aCR, i.library), cell(i.location));
  }

  // --- coreRMA (Table 3): the same statements made of actions ---
  SubEvent action(const ThreadPath& p, Action a, const Instruction& i, int process) const {
    SubEvent s = make(p, Stamp::aMF, Library::rdmawait, process);
    s.action = a;
    s.atomic = i.atomic;
    return s;
  }
  void core_step(State& s, const Instruction& i) {
    ThreadPath& p = s.path;
    const int self = self_.node;
    if (i.op == Op::assign) {
      at(p.registers, i.target) = evaluate(p, i.expr);
      return;
    }
    const int value = i.op == Op::write ? evaluate(p, i.expr) : kNone;
    begin_event(p, s.pc);
    switch (i.op) {
      case Op::read:
        at(p.registers, i.target) = add_read(p, action(p, Action::r, i, self), cell(i.location));
        break;
      case Op::write:
        add_write(p, action(p, Action::w, i, self), cell(i.location), value);
        break;
      case Op::put: {
        const int v = add_read(p, action(p, Action::er, i, self), cell(i.source));
        add_write(p, action(p, Action::ew, i, i.node), cell(i.location), v);
        break;
      }
      case Op::get: {
        const int v = add_read(p, action(p, Action::er, i, i.node), cell(i.source));
        add_write(p, action(p, Action::ew, i, self), cell(i.location), v);
        break;
      }
      case Op::rga:
      case Op::remote_cas: {
        const int y = add_read(p, action(p, Action::er, i, self), cell(i.operand));
        const int w = i.op == Op::remote_cas ? add_read(p, action(p, Action::er, i, self), cell(i.operand2)) : kNone;
        const int old = add_read(p, action(p, Action::erw, i, i.node), cell(i.source));
        SubEvent& erw = p.subevents.back();
        erw.writes = true;
        int written = kNone;
        if (i.op == Op::rga) {
          written = operation(p, ExprOp::add, y, old);
        } else {  // the old value again when the comparison fails
          Symbol select;
          select.kind = Symbol::Kind::select;
          select.a = operation(p, ExprOp::eq, y, old);
          select.b = w;
          select.c = old;
          written = symbol(p, select);
        }
        erw.value = static_cast<std::int16_t>(written);
        add_write(p, action(p, Action::ew, i, self), cell(i.location), old);
        break;
      }
      case Op::flush:
        add(p, action(p, Action::flush, i, i.node));
        break;
      default:
        break;
    }
  }

  const Program& program_;
  const Cells& cells_;
  int thread_;
  const Thread& self_;
  PathOptions options_;
  std::vector<State> pending_;
  int symbols_ = 0;
  ThreadPaths result_;
};

}  // namespace

ThreadPaths enumerate_paths(const Program& program, const Cells& cells, int thread, const PathOptions& options) {
  return PathBuilder(program, cells, thread, options).run();
}

}  // namespace loco::model::litmus
