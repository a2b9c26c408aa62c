// The operational rdmatso machine of the models page, section 3, explored exhaustively.
#include <deque>
#include <functional>
#include <stdexcept>

#include "program.hpp"

namespace loco::test {

namespace {

enum class Stage : std::uint8_t { unread, read, ack };

struct Operation {  // an entry of a pipe: a word of a put or a get, or a fence
  Do what = Do::put;
  std::size_t group = 0;  // words of one statement have the same, and no order
  Stage stage = Stage::unread;
  int location = 0;
  int other = 0;
  std::uint64_t value = 0;
  auto operator<=>(const Operation&) const = default;
};

struct Entry {  // of the store buffer
  Do what = Do::write;
  int location = 0;
  int other = 0;
  int node = 0;
  std::uint64_t value = 0;
  int words = 1;
  std::size_t group = 0;
  auto operator<=>(const Entry&) const = default;
};

struct Pending {  // of wbR, wbL
  bool completion = false;
  int location = 0;
  std::uint64_t value = 0;
  auto operator<=>(const Pending&) const = default;
};

struct Queue {
  std::deque<Operation> pipe;
  std::deque<Pending> remote, local;
  auto operator<=>(const Queue&) const = default;
};

struct Actor {
  std::size_t pc = 0;
  std::deque<Entry> buffer;
  std::vector<Queue> queues;  // by node
  auto operator<=>(const Actor&) const = default;
};

struct Machine {
  std::vector<std::uint64_t> memory, registers;
  std::vector<Actor> actors;
  auto operator<=>(const Machine&) const = default;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Explorer {
 public:
  explicit Explorer(const Program& program) : program_(program) {
    Machine m;
    for (const Location& l : program.locations) m.memory.push_back(l.initial);
    m.registers.resize(program.registers.size());
    m.actors.resize(program.threads.size());
    for (Actor& a : m.actors) a.queues.resize(at(program.nodes()) + 1);
    visit(std::move(m));
    while (!work_.empty()) {
      const Machine next = std::move(work_.back());
      work_.pop_back();
      expand(next);
    }
  }
  Outcomes outcomes;

 private:
  using Change = std::function<void(Machine&)>;

  void visit(Machine m) {
    if (seen_.insert(m).second) work_.push_back(std::move(m));
  }
  void step(const Machine& from, const Change& change) {
    Machine m = from;
    change(m);
    visit(std::move(m));
    moved_ = true;
  }

  void expand(const Machine& m) {
    moved_ = false;
    for (std::size_t t = 0; t < m.actors.size(); ++t) {
      instruction(m, t);
      drain(m, t);
      for (std::size_t n = 0; n < m.actors[t].queues.size(); ++n) {
        for (std::size_t i = 0; i < m.actors[t].queues[n].pipe.size(); ++i) operation(m, t, n, i);
        write_buffers(m, t, n);
      }
    }
    if (!moved_) finish(m);
  }

  void finish(const Machine& m) {
    for (std::size_t t = 0; t < m.actors.size(); ++t) {
      if (m.actors[t].pc != program_.threads[t].code.size()) return;
    }
    Outcome o;
    for (std::size_t r = 0; r < m.registers.size(); ++r) o[program_.registers[r]] = m.registers[r];
    for (std::size_t l = 0; l < m.memory.size(); ++l) {
      for (const std::string& name : program_.final) {
        if (name == program_.locations[l].name) o[name] = m.memory[l];
      }
    }
    outcomes.insert(o);
  }

  void instruction(const Machine& m, std::size_t t) {
    const Actor& actor = m.actors[t];
    const auto& code = program_.threads[t].code;
    if (actor.pc == code.size()) return;
    const Statement& s = code[actor.pc];
    const auto next = [&](const Change& change) {
      step(m, [&](Machine& n) {
        ++n.actors[t].pc;
        change(n);
      });
    };
    switch (s.what) {
      case Do::write:
      case Do::put:
      case Do::get:
      case Do::rfence:
        return next([&](Machine& n) {
          const std::uint64_t value = s.what == Do::write && s.reg >= 0 ? n.registers[at(s.reg)] : s.value;
          int node = s.node;
          if (s.what == Do::put) node = program_.locations[at(s.location)].node;
          if (s.what == Do::get) node = program_.locations[at(s.other)].node;
          n.actors[t].buffer.push_back({s.what, s.location, s.other, node, value, s.words, actor.pc});
        });
      case Do::read:
        return next([&](Machine& n) {
          std::uint64_t value = n.memory[at(s.location)];
          for (const Entry& e : n.actors[t].buffer) {
            if (e.what == Do::write && e.location == s.location) value = e.value;
          }
          n.registers[at(s.reg)] = value;
        });
      case Do::mfence:
        if (actor.buffer.empty()) next([](Machine&) {});
        return;
      case Do::cas:
        if (!actor.buffer.empty()) return;
        return next([&](Machine& n) {
          n.registers[at(s.reg)] = n.memory[at(s.location)];
          if (n.memory[at(s.location)] == s.value) n.memory[at(s.location)] = s.desired;
        });
      case Do::poll: {
        const Queue& q = actor.queues[at(s.node)];
        if (!q.local.empty() && q.local.front().completion) {
          next([&](Machine& n) { n.actors[t].queues[at(s.node)].local.pop_front(); });
        }
        return;
      }
      case Do::wait:
        throw std::invalid_argument("the rdmatso machine has no wait");
    }
  }

  void drain(const Machine& m, std::size_t t) {
    if (m.actors[t].buffer.empty()) return;
    step(m, [&](Machine& n) {
      Actor& a = n.actors[t];
      const Entry e = a.buffer.front();
      a.buffer.pop_front();
      if (e.what == Do::write) {
        n.memory[at(e.location)] = e.value;
      } else {
        for (int w = 0; w < e.words; ++w) {
          a.queues[at(e.node)].pipe.push_back({e.what, e.group, Stage::unread, e.location + w, e.other + w, 0});
        }
      }
    });
  }

  void operation(const Machine& m, std::size_t t, std::size_t node, std::size_t i) {
    const Queue& q = m.actors[t].queues[node];
    bool unread_put = false, unsent_put = false, rfence = false;
    for (std::size_t k = 0; k < i; ++k) {
      const Operation& o = q.pipe[k];
      if (o.group == q.pipe[i].group) continue;
      rfence |= o.what == Do::rfence;
      unread_put |= o.what == Do::put && o.stage == Stage::unread;
      unsent_put |= o.what == Do::put && o.stage != Stage::ack;
    }
    bool local_write = false;
    for (const Pending& w : q.local) local_write |= !w.completion;
    const Operation& o = q.pipe[i];
    const auto change = [&](const std::function<void(Machine&, Queue&, Operation&)>& f) {
      step(m, [&](Machine& n) { f(n, n.actors[t].queues[node], n.actors[t].queues[node].pipe[i]); });
    };
    if (o.what == Do::put && o.stage == Stage::unread && !unread_put && !rfence && !local_write) {
      change([](Machine& n, Queue&, Operation& p) {
        p.value = n.memory[at(p.other)];
        p.stage = Stage::read;
      });
    }
    if (o.what == Do::put && o.stage == Stage::read && !unsent_put && !rfence) {
      change([](Machine&, Queue& nq, Operation& p) {
        nq.remote.push_back({false, p.location, p.value});
        p.stage = Stage::ack;
        p.value = 0;
      });
    }
    if (o.what == Do::get && o.stage == Stage::unread && !unsent_put && !rfence && q.remote.empty()) {
      change([](Machine& n, Queue&, Operation& g) {
        g.value = n.memory[at(g.other)];
        g.stage = Stage::read;
      });
    }
    if (o.group != q.pipe.front().group) return;
    // Its word is done; with the last one of the statement the completion comes.
    const auto leave = [i](Queue& nq) {
      const std::size_t group = nq.pipe[i].group;
      nq.pipe.erase(nq.pipe.begin() + static_cast<std::ptrdiff_t>(i));
      if (nq.pipe.empty() || nq.pipe.front().group != group) nq.local.push_back({true, 0, 0});
    };
    if (o.what == Do::get && o.stage == Stage::read) {
      change([&](Machine&, Queue& nq, Operation& g) {
        nq.local.push_back({false, g.location, g.value});
        leave(nq);
      });
    }
    if (o.what == Do::put && o.stage == Stage::ack) {
      change([&](Machine&, Queue& nq, Operation&) { leave(nq); });
    }
    if (o.what == Do::rfence) {
      change([](Machine&, Queue& nq, Operation&) { nq.pipe.pop_front(); });
    }
  }

  void write_buffers(const Machine& m, std::size_t t, std::size_t node) {
    const Queue& q = m.actors[t].queues[node];
    if (!q.remote.empty()) {
      step(m, [&](Machine& n) {
        auto& remote = n.actors[t].queues[node].remote;
        n.memory[at(remote.front().location)] = remote.front().value;
        remote.pop_front();
      });
    }
    // Writes leave in order; completions in between stay until they are polled.
    std::size_t first = 0;
    while (first < q.local.size() && q.local[first].completion) ++first;
    if (first < q.local.size()) {
      step(m, [&](Machine& n) {
        auto& local = n.actors[t].queues[node].local;
        n.memory[at(local[first].location)] = local[first].value;
        local.erase(local.begin() + static_cast<std::ptrdiff_t>(first));
      });
    }
  }

  const Program& program_;
  std::set<Machine> seen_;
  std::vector<Machine> work_;
  bool moved_ = false;
};

}  // namespace

Outcomes explore_operational(const Program& program) { return Explorer(program).outcomes; }

}  // namespace loco::test
