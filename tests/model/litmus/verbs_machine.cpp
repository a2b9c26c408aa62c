// The operational machine of docs/verbs-model.md, section 5, with unreliable queue pairs: every interleaving, with a
// set of visited states. Of UC and UD: whatever is sent may get lost; a send CQE waits for sources only; datagrams
// leave and arrive each for itself.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/model/litmus/reference.hpp"

namespace loco::model::litmus::test {
namespace of_verbs {  // names that the other machine has, too

enum class Step : int { unread, unsent, done };  // of a word; of an atomic, `unsent` is "not posted"

/// A request in the pipe of its queue pair, or a fence in front of one.
struct Entry {
  int post = kNone;  // kNone: a fence
  int serial = 0;    // of datagrams
  std::array<Step, 3> word{};
  std::array<Value, 3> value{};
  bool taken = false;  // it has found its receive, or needs none
  bool told = false;   // its completion has been written, or it wants none
  Value expected = 0, operand = 0;
  auto operator<=>(const Entry&) const = default;
};
/// In a thread's store buffer: a CPU write, a request, a receive.
struct Stored {
  int location = kNone;
  Value value = 0;
  int receive = kNone;
  int queue_pair = kNone;
  std::vector<Entry> entries{};
  auto operator<=>(const Stored&) const = default;
};
/// On its way to memory or to a completion queue.
struct Item {
  int location = kNone;  // kNone: a completion
  Value value = 0;
  bool of_atomic = false;
  int unit = kNone;  // freed when it is in memory
  int group = 0;     // of datagrams: what order there is is among those of one
  int queue = kNone;
  Value name = 0, immediate = 0;
  auto operator<=>(const Item&) const = default;
};
struct Pair {
  std::vector<Entry> pipe;
  std::vector<Item> remote, local;
  int sent = 0;
  auto operator<=>(const Pair&) const = default;
};
struct Thr {
  int pc = 0;
  std::vector<Value> registers;
  std::vector<Stored> buffer;
  auto operator<=>(const Thr&) const = default;
};
struct State {
  std::vector<Value> memory;
  std::set<int> busy;
  std::vector<Thr> threads;
  std::vector<Pair> pairs;
  std::vector<std::vector<int>> receives;                       // by receive queue: posts
  std::vector<std::vector<std::pair<Value, Value>>> completed;  // by completion queue
  auto operator<=>(const State&) const = default;
};

class VerbsMachine {
 public:
  VerbsMachine(const Program& p, std::uint64_t limit) : p_(p), v_(p.verbs), limit_(limit) {}

  ReferenceResult run() {
    State s;
    for (const Location& l : p_.locations) s.memory.push_back(l.init);
    for (const Thread& t : p_.threads) {
      s.threads.emplace_back();
      s.threads.back().registers.assign(t.registers.size(), 0);
    }
    s.pairs.resize(v_.queue_pairs.size());
    s.receives.resize(v_.receive_queues.size());
    s.completed.resize(v_.completion_queues.size());
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
      if (b->location == location) return b->value;
    return at(s.memory, location);
  }
  [[nodiscard]] const Post& post(const Entry& e) const { return at(v_.posts, e.post); }
  [[nodiscard]] bool device(int location) const { return at(p_.locations, location).device; }
  static bool sends(PostKind k) { return k == PostKind::send || k == PostKind::send_imm; }
  static bool writes(PostKind k) { return k == PostKind::write || k == PostKind::write_imm; }
  static bool atomic(PostKind k) { return k == PostKind::cas || k == PostKind::faa; }
  static bool answers(PostKind k) { return k == PostKind::read || atomic(k); }

  void expand(const State& s) {
    bool done = true;
    for (int t = 0; t < len(s.threads); ++t) {
      const Thr& me = at(s.threads, t);
      done = done && me.pc == len(at(p_.threads, t).code) && me.buffer.empty();
      if (me.pc < len(at(p_.threads, t).code)) execute(s, t);
      drain(s, t);
    }
    for (int q = 0; q < len(s.pairs); ++q) {
      const Pair& pair = at(s.pairs, q);
      done = done && pair.pipe.empty() && pair.remote.empty() && pair.local.empty();
      for (int k = 0; k < len(pair.pipe); ++k) advance(s, q, k);
      commit(s, q, &Pair::remote);
      commit(s, q, &Pair::local);
    }
    if (!done) return;
    Outcome o;
    for (const Observable& x : p_.observables)
      o.push_back(x.thread != kNone ? at(at(s.threads, x.thread).registers, x.reg) : at(s.memory, x.location));
    outcomes_.insert(o);
  }

  // --- threads ---
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
        me.buffer.push_back({i.location, eval(me, i.expr)});
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
      case Op::verbs:
        if (!verb(s, next, me, i.object)) return;
        break;
      default:
        result_.gave_up = true;
        return;
    }
    push(next);
  }

  bool verb(const State& s, State& next, Thr& me, int index) {
    const Post& p = at(v_.posts, index);
    if (p.kind == PostKind::poll) {
      auto& queue = at(next.completed, p.completion_queue);
      if (queue.empty()) return false;
      if (p.target != kNone) at(me.registers, p.target) = queue.front().first;
      if (p.target2 != kNone) at(me.registers, p.target2) = queue.front().second;
      queue.erase(queue.begin());
      return true;
    }
    Stored stored;
    if (p.kind == PostKind::receive) {
      stored.receive = index;
    } else {
      stored.queue_pair = p.queue_pair;
      if (p.fence || p.kind == PostKind::fence) stored.entries.emplace_back();
      if (p.kind != PostKind::fence) stored.entries.push_back(request(s, me, index));
    }
    me.buffer.push_back(stored);
    return true;
  }

  Entry request(const State& s, const Thr& me, int index) const {
    const Post& p = at(v_.posts, index);
    Entry e{.post = index};
    e.word.fill(Step::done);
    for (std::size_t k = 0; k < p.words.size(); ++k) {
      e.word[k] = p.is_inline ? Step::unsent : Step::unread;
      if (p.is_inline) e.value[k] = read(s, me, p.words[k].local);
    }
    e.taken = p.kind == PostKind::write || answers(p.kind);
    e.told = !p.signaled;
    if (p.kind == PostKind::cas) e.expected = eval(me, p.operand), e.operand = eval(me, p.operand2);
    if (p.kind == PostKind::faa) e.operand = eval(me, p.operand);
    return e;
  }

  void drain(const State& s, int t) {
    if (at(s.threads, t).buffer.empty()) return;
    State next = s;
    Thr& me = at(next.threads, t);
    const Stored head = me.buffer.front();
    me.buffer.erase(me.buffer.begin());
    if (head.location != kNone) at(next.memory, head.location) = head.value;
    if (head.receive != kNone) at(next.receives, at(v_.posts, head.receive).receive_queue).push_back(head.receive);
    for (Entry e : head.entries) {
      Pair& pair = at(next.pairs, head.queue_pair);
      if (at(v_.queue_pairs, head.queue_pair).type == Transport::ud) e.serial = ++pair.sent;
      pair.pipe.push_back(e);
    }
    push(next);
  }

  // --- queue pairs ---
  struct Before {  // in the pipe
    bool unread = false, unsent = false, fence = false, answer = false, untold = false;
  };
  [[nodiscard]] Before before(const Pair& pair, int k) const {
    Before b;
    for (int i = 0; i < k; ++i) {
      const Entry& e = at(pair.pipe, i);
      if (e.post == kNone) {
        b.fence = true;
        continue;
      }
      const PostKind kind = post(e).kind;
      const bool unread = std::ranges::find(e.word, Step::unread) != e.word.end();
      const bool pending = unread || std::ranges::find(e.word, Step::unsent) != e.word.end() || !e.taken;
      if (!answers(kind)) b.unread = b.unread || unread;
      const bool unposted = std::ranges::any_of(e.word, [](Step w) { return w != Step::done; });
      if (kind != PostKind::read) b.unsent = b.unsent || (atomic(kind) ? unposted : pending);
      b.answer = b.answer || answers(kind);
      b.untold = b.untold || !e.told || (answers(kind));
    }
    return b;
  }
  template <class Change>
  void change(const State& s, int q, int k, Change what) {
    State next = s;
    Pair& pair = at(next.pairs, q);
    what(next, pair, at(pair.pipe, k));
    std::erase_if(pair.pipe, [&](const Entry& e) { return e.post != kNone && over(e); });
    push(next);
  }
  bool over(const Entry& e) const {
    return e.taken && e.told && std::ranges::all_of(e.word, [](Step w) { return w == Step::done; });
  }
  static bool has_write(const std::vector<Item>& items, bool of_device, const Program& p) {
    return std::ranges::any_of(
        items, [&](const Item& i) { return i.location != kNone && at(p.locations, i.location).device == of_device; });
  }

  void advance(const State& s, int q, int k) {
    const Pair& pair = at(s.pairs, q);
    const Entry& e = at(pair.pipe, k);
    const Before b = before(pair, k);
    if (e.post == kNone) {
      if (b.answer) return;
      State next = s;
      at(next.pairs, q).pipe.erase(at(next.pairs, q).pipe.begin() + k);
      push(next);
      return;
    }
    const Post& p = post(e);
    if (answers(p.kind)) return answer(s, q, k, b);
    const Transport type = at(v_.queue_pairs, q).type;
    for (std::size_t w = 0; w < p.words.size(); ++w) {
      if (e.word[w] != Step::unread || b.unread || b.fence) continue;
      if (has_write(pair.local, device(p.words[w].local), p_)) continue;
      change(s, q, k, [&](State&, Pair&, Entry& mine) {
        mine.word[w] = Step::unsent;
        mine.value[w] = at(s.memory, p.words[w].local);
      });
    }
    const bool read = std::ranges::find(e.word, Step::unread) == e.word.end();
    const bool may_send = !b.fence && (type == Transport::ud || (!b.unread && !b.unsent));
    if (may_send) send(s, q, k, type);
    const bool sent = over(Entry{.word = e.word, .taken = e.taken, .told = true});
    if (!e.told && !b.untold && !b.fence && (type == Transport::rc ? sent : read))
      change(s, q, k, [&](State&, Pair& mine, Entry& entry) {
        entry.told = true;
        mine.local.push_back(completion(at(v_.queue_pairs, q).send_cq, p.name, 0));
      });
  }

  static Item completion(int queue, int name, Value immediate) {
    Item i{.queue = queue, .immediate = immediate};
    i.name = name == kNone ? kNoName : kFirstName + name;
    return i;
  }

  void send(const State& s, int q, int k, Transport type) {
    const Entry& e = at(at(s.pairs, q).pipe, k);
    const Post& p = post(e);
    const bool all_sent = over(Entry{.word = e.word, .taken = true, .told = true});
    if (writes(p.kind)) {
      for (std::size_t w = 0; w < p.words.size(); ++w) {
        if (e.word[w] != Step::unsent) continue;
        change(s, q, k, [&](State&, Pair& mine, Entry& entry) {
          entry.word[w] = Step::done;
          mine.remote.push_back({.location = p.words[w].remote, .value = entry.value[w]});
        });
        if (type != Transport::rc)  // the word is lost, and what the whole message would tell
          change(s, q, k, [&](State&, Pair&, Entry& entry) {
            entry.word[w] = Step::done;
            entry.taken = true;
          });
      }
      if (all_sent && !e.taken) take(s, q, k, type);
      return;
    }
    const bool read = std::ranges::find(e.word, Step::unread) == e.word.end();
    if (read && !e.taken) take(s, q, k, type);
  }

  /// The message finds a receive; an unreliable one may as well get lost.
  void take(const State& s, int q, int k, Transport type) {
    if (type != Transport::rc)
      change(s, q, k, [&](State&, Pair&, Entry& entry) {
        entry.taken = true;
        for (Step& w : entry.word) w = Step::done;
      });
    const litmus::QueuePair& peer = at(v_.queue_pairs, at(v_.queue_pairs, q).peer);
    if (at(s.receives, peer.receive_queue).empty()) return;
    change(s, q, k, [&](State& next, Pair& mine, Entry& entry) {
      auto& queue = at(next.receives, peer.receive_queue);
      const Post& receive = at(v_.posts, queue.front());
      queue.erase(queue.begin());
      const Post& p = post(entry);
      if (sends(p.kind) && !p.words.empty())
        mine.remote.push_back({.location = receive.buffer, .value = entry.value[0], .group = entry.serial});
      Item cqe = completion(peer.receive_cq, receive.name, p.immediate);
      cqe.group = entry.serial;
      mine.remote.push_back(cqe);
      entry.taken = true;
      for (Step& w : entry.word) w = Step::done;
    });
  }

  void answer(const State& s, int q, int k, const Before& b) {
    const Pair& pair = at(s.pairs, q);
    const Entry& e = at(pair.pipe, k);
    const Post& p = post(e);
    const int remote = p.words.front().remote;
    const int unit = at(p_.locations, remote).node;
    if (e.word[0] == Step::unread) {
      if (b.unread || b.unsent || b.fence || has_write(pair.remote, device(remote), p_)) return;
      if (atomic(p.kind) && s.busy.count(unit) != 0) return;
      change(s, q, k, [&](State& next, Pair&, Entry& mine) {
        mine.value[0] = at(s.memory, remote);
        const bool writes = p.kind == PostKind::faa || (p.kind == PostKind::cas && mine.value[0] == mine.expected);
        mine.word[0] = writes ? Step::unsent : Step::done;
        mine.told = mine.taken = false;  // it stays until it has replied
        if (writes) next.busy.insert(unit);
      });
      return;
    }
    if (e.word[0] == Step::unsent) {
      change(s, q, k, [&](State&, Pair& mine, Entry& entry) {
        entry.word[0] = Step::done;
        const Value written =
            p.kind == PostKind::cas ? entry.operand : apply(ExprOp::add, entry.value[0], entry.operand);
        mine.remote.push_back({.location = remote, .value = written, .of_atomic = true, .unit = unit});
      });
      return;
    }
    if (k != 0) return;
    change(s, q, k, [&](State&, Pair& mine, Entry& entry) {
      mine.local.push_back({.location = p.words.front().local, .value = entry.value[0]});
      if (p.signaled) mine.local.push_back(completion(at(v_.queue_pairs, q).send_cq, p.name, 0));
      entry.taken = entry.told = true;
    });
  }

  /// A write passes completions, writes of the other memory, and if its word is relaxed those that are no atomic's; a
  /// completion passes nothing.
  void commit(const State& s, int q, std::vector<Item> Pair::*side) {
    const std::vector<Item>& items = at(s.pairs, q).*side;
    for (std::size_t k = 0; k < items.size(); ++k) {
      const Item& item = items[k];
      bool free = true;
      for (std::size_t i = 0; i < k && free; ++i) {
        if (items[i].group != item.group) continue;
        if (item.location == kNone)
          free = false;
        else if (items[i].location != kNone && device(items[i].location) == device(item.location))
          free = at(p_.locations, item.location).relaxed && !items[i].of_atomic && !item.of_atomic;
      }
      if (!free) continue;
      State next = s;
      auto& mine = at(next.pairs, q).*side;
      if (item.location == kNone) {
        at(next.completed, item.queue).emplace_back(item.name, item.immediate);
      } else {
        at(next.memory, item.location) = item.value;
        next.busy.erase(item.unit);
      }
      mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(k));
      push(next);
    }
  }

  const Program& p_;
  const Verbs& v_;
  std::uint64_t limit_;
  std::vector<State> work_;
  std::set<State> seen_;
  std::set<Outcome> outcomes_;
  ReferenceResult result_;
};

}  // namespace of_verbs

ReferenceResult verbs_machine(const Program& program, std::uint64_t states_max) {
  return of_verbs::VerbsMachine(program, states_max).run();
}

}  // namespace loco::model::litmus::test
