// The operational machine for rdmatso, and for rdmawait where a wait looks at its own operations alone: every
// interleaving, with a set of visited states.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "tests/model/litmus/reference.hpp"

namespace loco::model::litmus::test {
namespace {

// Everything is a vector of numbers, so that a state can be a key.
struct PipeEntry {
  enum Kind : int { put_unread, put_unsent, ack, get_unread, get_done, rfence, atomic_unread, atomic_unposted } kind;
  int to, from;
  Value value;     // read; of an atomic what it read, and it becomes a get_done once it has posted
  int id = kNone;  // work identifier
  bool compares = false;
  Value expected = 0, operand = 0;
  auto operator<=>(const PipeEntry&) const = default;
};
struct Buffered {  // in a thread's store buffer: a CPU write, or an operation with its node
  bool cpu;
  int node;
  PipeEntry entry;  // a CPU write uses `to` and `value`
  auto operator<=>(const Buffered&) const = default;
};
struct Write {
  bool completion;
  int to;
  Value value;
  int id = kNone;
  int unit = kNone;  // freed when it is in memory
  auto operator<=>(const Write&) const = default;
};
struct QueuePair {
  std::vector<PipeEntry> pipe;
  std::vector<Write> remote, local;
  auto operator<=>(const QueuePair&) const = default;
};
struct Thr {
  int pc = 0;
  std::vector<Value> registers;
  std::vector<Buffered> buffer;
  std::map<int, QueuePair> pairs;
  auto operator<=>(const Thr&) const = default;
};
struct State {
  std::vector<Value> memory;
  std::set<int> busy;  // atomic units
  std::vector<Thr> threads;
  auto operator<=>(const State&) const = default;
};

class Machine {
 public:
  Machine(const Program& p, std::uint64_t limit, AtomicUnits units)
      : p_(p), limit_(limit), units_(units), polls_(p.model == "rdmatso") {}

  ReferenceResult run() {
    State s;
    for (const Location& l : p_.locations) s.memory.push_back(l.init);
    for (const Thread& t : p_.threads) {
      Thr thread;
      thread.registers.assign(t.registers.size(), 0);
      s.threads.push_back(thread);
    }
    push(s);
    while (!work_.empty() && !result_.gave_up) {
      const State next = work_.back();
      work_.pop_back();
      expand(next);
    }
    result_.outcomes.assign(outcomes_.begin(), outcomes_.end());
    return result_;
  }

 private:
  void push(const State& s) {
    if (!seen_.insert(s).second) return;
    if (seen_.size() > limit_) result_.gave_up = true;
    work_.push_back(s);
  }
  Value eval(const Thr& t, int e) const {
    const Expr& x = at(p_.exprs, e);
    if (x.op == ExprOp::constant) return x.constant;
    if (x.op == ExprOp::reg) return at(t.registers, x.reg);
    return apply(x.op, eval(t, x.lhs), x.rhs == kNone ? 0 : eval(t, x.rhs));
  }
  static Value read(const State& s, const Thr& t, int location) {
    for (auto b = t.buffer.rbegin(); b != t.buffer.rend(); ++b)
      if (b->cpu && b->entry.to == location) return b->entry.value;
    return at(s.memory, location);
  }

  void expand(const State& s) {
    bool done = true;
    for (int t = 0; t < len(s.threads); ++t) {
      const Thr& thread = at(s.threads, t);
      done = done && thread.pc == len(at(p_.threads, t).code) && thread.buffer.empty();
      if (thread.pc < len(at(p_.threads, t).code)) execute(s, t);
      drain(s, t);
      for (const auto& [node, pair] : thread.pairs) {
        done = done && pair.pipe.empty() && pair.remote.empty();
        for (const Write& w : pair.local) done = done && w.completion;
        step_pipe(s, t, node);
        commit(s, t, node);
      }
    }
    if (!done) return;
    Outcome o;
    for (const Observable& x : p_.observables)
      o.push_back(x.thread != kNone ? at(at(s.threads, x.thread).registers, x.reg) : at(s.memory, x.location));
    outcomes_.insert(o);
  }

  void execute(const State& s, int t) {
    State next = s;
    Thr& me = at(next.threads, t);
    const Instruction& i = at(at(p_.threads, t).code, me.pc++);
    switch (i.op) {
      case Op::assign:
        at(me.registers, i.target) = eval(me, i.expr);
        break;
      case Op::read:
        at(me.registers, i.target) = read(s, me, i.location);
        break;
      case Op::write:
        me.buffer.push_back({true, 0, {PipeEntry::ack, i.location, 0, eval(me, i.expr)}});
        break;
      case Op::mfence:
        if (!me.buffer.empty()) return;
        break;
      case Op::cas: {
        if (!me.buffer.empty()) return;
        Value& cell = at(next.memory, i.location);
        const Value old = cell;
        if (old == eval(me, i.expr)) cell = eval(me, i.expr2);
        at(me.registers, i.target) = old;
        break;
      }
      case Op::put:
        me.buffer.push_back({false, i.node, {PipeEntry::put_unread, i.location, i.source, 0, i.work_id}});
        break;
      case Op::get:
        me.buffer.push_back({false, i.node, {PipeEntry::get_unread, i.location, i.source, 0, i.work_id}});
        break;
      case Op::rcas:
        me.buffer.push_back({false,
                             i.node,
                             {PipeEntry::atomic_unread, i.location, i.source, 0, i.work_id, true, eval(me, i.expr),
                              eval(me, i.expr2)}});
        break;
      case Op::rfaa:
        me.buffer.push_back(
            {false,
             i.node,
             {PipeEntry::atomic_unread, i.location, i.source, 0, i.work_id, false, 0, eval(me, i.expr)}});
        break;
      case Op::wait:
        if (!done(me, i.work_id)) return;
        break;
      case Op::rfence:
        me.buffer.push_back({false, i.node, {PipeEntry::rfence, 0, 0, 0}});
        break;
      case Op::poll: {
        auto& local = me.pairs[i.node].local;
        if (local.empty() || !local.front().completion) return;
        local.erase(local.begin());
        break;
      }
      default:
        result_.gave_up = true;
        return;
    }
    push(next);
  }

  /// Are the operations of that identifier sent (puts), or written to local memory (gets and atomics)?
  static bool done(const Thr& me, int id) {
    const auto other = [&](int theirs) { return theirs == kNone || theirs != id; };
    const auto left = [&](const PipeEntry& e) { return other(e.id) || e.kind == PipeEntry::ack; };
    for (const Buffered& b : me.buffer)
      if (!b.cpu && !left(b.entry)) return false;
    for (const auto& [node, pair] : me.pairs) {
      for (const PipeEntry& e : pair.pipe)
        if (!left(e)) return false;
      for (const Write& w : pair.local)
        if (!w.completion && !other(w.id)) return false;
    }
    return true;
  }

  [[nodiscard]] int unit(const PipeEntry& e) const { return units_.banked ? e.from : at(p_.locations, e.from).node; }

  void drain(const State& s, int t) {
    if (at(s.threads, t).buffer.empty()) return;
    State next = s;
    Thr& me = at(next.threads, t);
    const Buffered head = me.buffer.front();
    me.buffer.erase(me.buffer.begin());
    if (head.cpu)
      at(next.memory, head.entry.to) = head.entry.value;
    else
      me.pairs[head.node].pipe.push_back(head.entry);
    push(next);
  }

  void step_pipe(const State& s, int t, int node) {
    const QueuePair& pair = at(s.threads, t).pairs.at(node);
    bool unread = false, unsent = false, fence = false, unposted = false;  // earlier in the pipe
    const auto reply = [&](QueuePair& mine, const PipeEntry& e) {
      mine.local.push_back({false, e.to, e.value, e.id});
      if (polls_) mine.local.push_back({true, 0, 0});
    };
    for (std::size_t k = 0; k < pair.pipe.size(); ++k) {
      const PipeEntry& e = pair.pipe[k];
      State next = s;
      QueuePair& mine = at(next.threads, t).pairs[node];
      switch (e.kind) {
        case PipeEntry::put_unread:
          if (!unread && !fence &&
              std::all_of(pair.local.begin(), pair.local.end(), [](const Write& w) { return w.completion; })) {
            mine.pipe[k].kind = PipeEntry::put_unsent;
            mine.pipe[k].value = at(s.memory, e.from);
            push(next);
          }
          unread = true;
          break;
        case PipeEntry::put_unsent:
          if (!unread && !unsent && !fence && !unposted) {
            mine.pipe[k] = {PipeEntry::ack, 0, 0, 0};
            mine.remote.push_back({false, e.to, e.value});
            push(next);
          }
          unsent = true;
          break;
        case PipeEntry::get_unread:
          if (!unread && !unsent && !fence && !unposted && pair.remote.empty()) {
            mine.pipe[k].kind = PipeEntry::get_done;
            mine.pipe[k].value = at(s.memory, e.from);
            push(next);
          }
          break;
        case PipeEntry::get_done:
          if (k == 0) {
            mine.pipe.erase(mine.pipe.begin());
            reply(mine, e);
            push(next);
          }
          break;
        case PipeEntry::atomic_unread:
          if (!unread && !unsent && !fence && !unposted && pair.remote.empty() && s.busy.count(unit(e)) == 0) {
            mine.pipe[k].value = at(s.memory, e.from);
            mine.pipe[k].kind = PipeEntry::get_done;
            if (!e.compares || at(s.memory, e.from) == e.expected) {
              if (units_.global) {
                at(next.memory, e.from) = written(e, at(s.memory, e.from));
              } else {
                mine.pipe[k].kind = PipeEntry::atomic_unposted;
                next.busy.insert(unit(e));
              }
            }
            push(next);
          }
          unposted = true;
          break;
        case PipeEntry::atomic_unposted:
          mine.pipe[k].kind = PipeEntry::get_done;
          mine.remote.push_back({false, e.from, written(e, e.value), kNone, unit(e)});
          push(next);
          unposted = true;
          break;
        case PipeEntry::ack:
          if (k == 0) {
            mine.pipe.erase(mine.pipe.begin());
            if (polls_) mine.local.push_back({true, 0, 0});
            push(next);
          }
          break;
        case PipeEntry::rfence:
          if (k == 0) {
            mine.pipe.erase(mine.pipe.begin());
            push(next);
          }
          fence = true;
          break;
      }
    }
  }

  static Value written(const PipeEntry& e, Value read) {
    return e.compares ? e.operand : apply(ExprOp::add, read, e.operand);
  }

  void commit(const State& s, int t, int node) {
    const QueuePair& pair = at(s.threads, t).pairs.at(node);
    if (!pair.remote.empty()) {
      State next = s;
      auto& remote = at(next.threads, t).pairs[node].remote;
      at(next.memory, remote.front().to) = remote.front().value;
      next.busy.erase(remote.front().unit);
      remote.erase(remote.begin());
      push(next);
    }
    // Writes leave in order, past completions that nobody has polled yet.
    const auto first = std::find_if(pair.local.begin(), pair.local.end(), [](const Write& w) { return !w.completion; });
    if (first != pair.local.end()) {
      State next = s;
      auto& local = at(next.threads, t).pairs[node].local;
      at(next.memory, first->to) = first->value;
      local.erase(local.begin() + (first - pair.local.begin()));
      push(next);
    }
  }

  const Program& p_;
  std::uint64_t limit_;
  AtomicUnits units_;
  bool polls_;  // else completions are nobody's business
  std::vector<State> work_;
  std::set<State> seen_;
  std::set<Outcome> outcomes_;
  ReferenceResult result_;
};

}  // namespace

ReferenceResult machine(const Program& program, std::uint64_t states_max, AtomicUnits units) {
  return Machine(program, states_max, units).run();
}

}  // namespace loco::model::litmus::test
