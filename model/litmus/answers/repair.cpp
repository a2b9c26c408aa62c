// Finds smallest sets of statements whose insertion makes a program robust (docs/robustness.md).
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "model/litmus/answers/robust.hpp"

namespace loco::model::litmus {
namespace {

bool posts(const Instruction& i) {
  return i.op == Op::put || i.op == Op::get || i.op == Op::bcast || is_remote_atomic(i.op);
}

std::vector<int> nodes_of(const Instruction& i) {
  if (i.op == Op::bcast) return i.nodes;
  return posts(i) ? std::vector<int>{i.node} : std::vector<int>{};
}

/// A name that no operation has: d, e, f, .., then w0, w1, ...
std::string new_name(const std::set<std::string>& taken) {
  for (char c = 'd'; c <= 'z'; ++c)
    if (taken.count(std::string(1, c)) == 0) return std::string(1, c);
  for (int n = 0;; ++n)
    if (const std::string name = "w" + std::to_string(n); taken.count(name) == 0) return name;
}

}  // namespace

std::string Insertion::text() const {
  switch (kind) {
    case Kind::rfence:
      return "rfence(" + std::to_string(node) + ")";
    case Kind::mfence:
      return "mfence";
    case Kind::wait:
      return "wait(" + name + ")";
    case Kind::flush:
      return "flush(" + std::to_string(node) + ")";
  }
  return "";
}

std::vector<int> statements_of(const Thread& thread) {
  // Instructions of one statement have its place. The jump over an `else` is none of its own.
  const auto is_else = [](const Instruction& i) { return i.op == Op::jump && i.text == "else"; };
  std::vector<std::pair<int, int>> places;
  const auto place = [](const Instruction& i) { return std::pair(i.at.line, i.at.column); };
  for (const Instruction& i : thread.code)
    if (!is_else(i)) places.push_back(place(i));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<int> statements;
  for (const Instruction& i : thread.code) {
    const int at_or_before =
        static_cast<int>(std::upper_bound(places.begin(), places.end(), place(i)) - places.begin()) - 1;
    statements.push_back(at_or_before);
  }
  return statements;
}

std::vector<Insertion> possible_insertions(const Program& program, int thread) {
  const Thread& t = at(program.threads, thread);
  const std::vector<int> statement = statements_of(t);
  std::set<std::string> taken(program.work_ids.begin(), program.work_ids.end());
  struct Operation {
    int statement;
    const Instruction* instruction;
    int work_id, pc;
    std::string name;
  };
  std::vector<Operation> operations;
  for (int pc = 0; pc < len(t.code); ++pc) {
    const Instruction& i = at(t.code, pc);
    if (!posts(i)) continue;
    Operation o{at(statement, pc), &i, i.work_id, pc, ""};
    if (o.work_id != kNone) {
      o.name = at(program.work_ids, o.work_id);
    } else {
      o.name = new_name(taken);
      taken.insert(o.name);
    }
    operations.push_back(std::move(o));
  }
  std::vector<Insertion> all;
  const int statements = statement.empty() ? 0 : *std::max_element(statement.begin(), statement.end()) + 1;
  for (int s = 1; s < statements; ++s) {
    std::set<int> earlier, later;
    std::vector<Insertion> waits;
    for (const Operation& o : operations) {
      for (const int n : nodes_of(*o.instruction)) (o.statement < s ? earlier : later).insert(n);
      const bool known = std::any_of(waits.begin(), waits.end(), [&](const Insertion& w) { return w.name == o.name; });
      if (o.statement >= s || known) continue;
      Insertion w{thread, s, Insertion::Kind::wait};
      w.work_id = o.work_id;
      w.operation = o.work_id == kNone ? o.pc : kNone;
      w.name = o.name;
      w.operation_text = o.instruction->text;
      waits.push_back(std::move(w));
    }
    for (const int n : earlier)
      if (later.count(n) > 0) all.push_back({thread, s, Insertion::Kind::rfence, n});
    all.push_back({thread, s, Insertion::Kind::mfence});
    all.insert(all.end(), waits.begin(), waits.end());
    for (const int n : earlier) all.push_back({thread, s, Insertion::Kind::flush, n});
  }
  return all;
}

namespace {

/// Writes the code of a thread anew, with the insertions in front of their statements.
class Inserter {
 public:
  Inserter(Program& out, int thread) : out_(out), thread_(thread), code_(at(out.threads, thread).code) {}

  void insert(std::vector<Insertion> insertions) {
    for (const Insertion& i : insertions) name_operation(i);
    const std::vector<int> statement = statements_of(at(out_.threads, thread_));
    const std::vector<Instruction> old = std::move(code_);
    code_.clear();
    std::vector<int> before, after;  // new places of each instruction: of what is inserted in front of it, and its own
    std::vector<int> origin;         // of each new instruction, the old one; kNone: inserted
    for (int pc = 0; pc < len(old); ++pc) {
      before.push_back(len(code_));
      const bool first = std::find(statement.begin(), statement.end(), at(statement, pc)) == statement.begin() + pc;
      for (const Insertion& i : insertions)
        if (first && i.before == at(statement, pc)) emit(i, at(old, pc));
      origin.resize(code_.size(), kNone);
      after.push_back(len(code_));
      code_.push_back(at(old, pc));
      origin.push_back(pc);
    }
    before.push_back(len(code_));
    after.push_back(len(code_));
    for (int pc = 0; pc < len(code_); ++pc) {
      Instruction& i = at(code_, pc);
      if (at(origin, pc) == kNone || i.jump == kNone) continue;
      // A jump back to the head of a loop skips statements inserted in front of the loop: they are not repeated.
      i.jump = at(i.jump <= at(origin, pc) ? after : before, i.jump);
    }
  }

 private:
  void name_operation(const Insertion& i) {
    if (i.kind != Insertion::Kind::wait || i.operation == kNone) return;
    at(code_, i.operation).work_id = out_.work_id(i.name);
  }
  Instruction& push(Op op, const Insertion& from, const Instruction& in_front_of) {
    Instruction i;
    i.op = op;
    i.at = in_front_of.at;
    i.text = from.text();
    code_.push_back(std::move(i));
    return code_.back();
  }
  void emit(const Insertion& i, const Instruction& in_front_of) {
    switch (i.kind) {
      case Insertion::Kind::rfence:
        push(Op::rfence, i, in_front_of).node = i.node;
        return;
      case Insertion::Kind::mfence:
        push(Op::mfence, i, in_front_of);
        return;
      case Insertion::Kind::wait:
        emit_wait(i, in_front_of);
        return;
      case Insertion::Kind::flush: {
        const int id = out_.work_id("$flush" + std::to_string(len(out_.work_ids)));
        const int here = out_.add_fresh_word(at(out_.threads, thread_).node, 0), there = out_.add_fresh_word(i.node, 0);
        Instruction& get = push(Op::get, i, in_front_of);
        get.location = here;
        get.source = there;
        get.node = i.node;
        get.work_id = id;
        push(Op::wait, i, in_front_of).work_id = id;
        return;
      }
    }
  }
  void emit_wait(const Insertion& i, const Instruction& in_front_of) {
    Instruction* const wait = &push(Op::wait, i, in_front_of);
    wait->work_id = i.work_id != kNone ? i.work_id : out_.work_id(i.name);
    for (const Instruction& other : at(out_.threads, thread_).code)  // a wait belongs to the library of its operations
      if (other.work_id == wait->work_id && other.op == Op::bcast) wait->library = Library::sv;
  }

  Program& out_;
  int thread_;
  std::vector<Instruction>& code_;
};

bool cheaper(const std::vector<Insertion>& a, const std::vector<Insertion>& b) {
  const auto cost = [](const std::vector<Insertion>& set) {
    int sum = 0;
    for (const Insertion& i : set) sum += static_cast<int>(i.kind);
    return sum;
  };
  return cost(a) < cost(b);
}

/// The smallest sets of one thread's insertions with which it may be weak while the others are strong.
class ThreadRepair {
 public:
  ThreadRepair(const Program& program, const RobustOptions& options, int thread)
      : program_(program), options_(options), thread_(thread), all_(possible_insertions(program, thread)) {}

  Repair run() {
    Repair result;
    if (robust({})) {
      result.reason = Repair::Reason::found;
      result.sets = {{}};
      return result;
    }
    if (!robust(all_)) {
      result.reason = unknown_ ? Repair::Reason::unknown : Repair::Reason::none;
      return result;
    }
    for (int size = 1; size <= options_.repair_max && result.sets.empty() && !unknown_; ++size) {
      std::vector<Insertion> set;
      choose(0, size, set, result.sets);
      result.size = size;
    }
    result.reason = unknown_              ? Repair::Reason::unknown
                    : result.sets.empty() ? Repair::Reason::limit
                                          : Repair::Reason::found;
    return result;
  }

 private:
  bool robust(const std::vector<Insertion>& set) {
    const TraceVerdict v = search_traces(with_insertions(program_, set), options_, thread_);
    unknown_ = unknown_ || !v.robust;
    return v.robust.value_or(false);
  }
  void choose(std::size_t next, int left, std::vector<Insertion>& set, std::vector<std::vector<Insertion>>& found) {
    if (unknown_) return;
    if (left == 0) {
      if (robust(set)) found.push_back(set);
      return;
    }
    for (std::size_t i = next; i + static_cast<std::size_t>(left) <= all_.size(); ++i) {
      set.push_back(all_[i]);
      choose(i + 1, left - 1, set, found);
      set.pop_back();
    }
  }

  const Program& program_;
  const RobustOptions& options_;
  int thread_;
  std::vector<Insertion> all_;
  bool unknown_ = false;
};

}  // namespace

Program with_insertions(const Program& program, const std::vector<Insertion>& insertions) {
  Program out = program;
  for (int t = 0; t < len(out.threads); ++t) {
    std::vector<Insertion> mine;
    std::copy_if(insertions.begin(), insertions.end(), std::back_inserter(mine),
                 [t](const Insertion& i) { return i.thread == t; });
    if (!mine.empty()) Inserter(out, t).insert(std::move(mine));
  }
  for (const Insertion& i : insertions)
    if (i.node != kNone) out.mention(i.node);
  return out;
}

Repair smallest_repairs(const Program& program, const RobustOptions& options) {
  Repair whole;
  whole.reason = Repair::Reason::found;
  whole.sets = {{}};
  if ((options.model.empty() ? program.model : options.model) == "rdmatso") {
    whole.reason = Repair::Reason::model;  // a poll more takes the completion of another
    whole.sets.clear();
    return whole;
  }
  bool limit = false;
  for (int t = 0; t < len(program.threads); ++t) {
    const Repair own = ThreadRepair(program, options, t).run();
    if (own.reason == Repair::Reason::none || own.reason == Repair::Reason::unknown) return own;
    limit = limit || own.reason == Repair::Reason::limit;
    if (limit) continue;
    whole.size += own.size;
    std::vector<std::vector<Insertion>> product;
    for (const auto& before : whole.sets)
      for (const auto& mine : own.sets) {
        product.push_back(before);
        product.back().insert(product.back().end(), mine.begin(), mine.end());
      }
    whole.sets = std::move(product);
  }
  if (limit || whole.size > options.repair_max) {
    whole = Repair{};
    whole.reason = Repair::Reason::limit;
    return whole;
  }
  std::stable_sort(whole.sets.begin(), whole.sets.end(), cheaper);
  return whole;
}

}  // namespace loco::model::litmus
