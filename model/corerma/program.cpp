#include "model/corerma/program.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace loco::model::corerma {
namespace {

/// Renumbers variables and the hosts without a process by first appearance.
class Renumbering {
 public:
  Renumbering(const Program& from, Program& to) : from_(from), to_(to) {
    variable_.fill(kNobody);
    host_.fill(kNobody);
    next_host_ = static_cast<std::int8_t>(from.processes);
  }

  void name_host(int old, int fresh) { host_[index(old)] = static_cast<std::int8_t>(fresh); }
  Statement operator()(const Statement& s) {
    Statement t = s;
    t.local = variable(s.local);
    t.remote = variable(s.remote);
    if (s.host != kNobody) t.host = host(s.host);
    t.operand = variable(s.operand);
    t.operand2 = variable(s.operand2);
    return t;
  }

 private:
  std::int8_t variable(std::int8_t old) {
    if (old == kNobody) return kNobody;
    std::int8_t& fresh = variable_[index(old)];
    if (fresh == kNobody) {
      fresh = static_cast<std::int8_t>(to_.variables++);
      to_.home[index(fresh)] = host(from_.home[index(old)]);
    }
    return fresh;
  }
  std::int8_t host(std::int8_t old) {
    std::int8_t& fresh = host_[index(old)];
    if (fresh == kNobody) fresh = next_host_++;
    return fresh;
  }

  const Program& from_;
  Program& to_;
  std::array<std::int8_t, kSizeMax> variable_{};
  std::array<std::int8_t, kHostsMax> host_{};
  std::int8_t next_host_ = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Program run() {
    program_.processes = 0;
    for (bool more = true; more;) {
      if (program_.processes == kProcessesMax) fail("at most " + std::to_string(kProcessesMax) + " processes");
      program_.end[index(program_.processes++)] = 0;
      do {
        statement();
        more = i_ < text_.size();
      } while (more && text_[i_++] == '.');
      if (more && text_[i_ - 1] != '_') --i_, fail("\".\" or \"_\" between statements");
      program_.end[index(program_.processes - 1)] = static_cast<std::int8_t>(program_.count);
    }
    for (int v = 0; v < program_.variables; ++v)
      if (program_.home_of(v) == kNobody) fail("variables a, b, ... without a gap");
    for (int p = 0; p < program_.processes; ++p)
      for (int s = program_.begin_of(p); s < program_.end_of(p); ++s) check_homes(p, program_.statement(s));
    return program_;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw std::invalid_argument("expected " + expected + ", found \"" + std::string(text_.substr(i_, 20)) + "\" in \"" +
                                std::string(text_.substr(0, 80)) + "\"");
  }
  void statement() {
    if (program_.count == 0) program_.home.fill(kNobody);
    if (program_.count == kSizeMax) fail("at most " + std::to_string(kSizeMax) + " statements");
    const auto letter = std::find(kKindLetters.begin(), kKindLetters.end(), text_.substr(i_, 1));
    if (letter == kKindLetters.end()) fail("a statement (r, w, g, p, a, c, f)");
    ++i_;
    Statement s;
    s.kind = static_cast<Kind>(letter - kKindLetters.begin());
    const auto process = static_cast<std::int8_t>(program_.processes - 1);
    if (s.kind != Kind::flush) s.local = variable(process);
    if (is_remote(s.kind)) s.remote = variable(kNobody);
    if (s.kind == Kind::rga || s.kind == Kind::cas) s.operand = variable(process);
    if (s.kind == Kind::cas) s.operand2 = variable(process);
    if (is_remote(s.kind) || s.kind == Kind::flush) {
      if (i_ == text_.size() || text_[i_] < '0' || text_[i_] >= '0' + kHostsMax) fail("a host");
      s.host = static_cast<std::int8_t>(text_[i_++] - '0');
    }
    if (s.remote != kNobody) set_home(s.remote, s.host);
    program_.statements[index(program_.count++)] = s;
  }
  std::int8_t variable(std::int8_t home) {
    if (i_ == text_.size() || text_[i_] < 'a' || text_[i_] >= 'a' + kSizeMax) fail("a variable");
    const auto v = static_cast<std::int8_t>(text_[i_++] - 'a');
    program_.variables = std::max(program_.variables, v + 1);
    if (home != kNobody) set_home(v, home);
    return v;
  }
  void set_home(std::int8_t v, std::int8_t home) {
    std::int8_t& known = program_.home[index(v)];
    if (known != kNobody && known != home) fail("each variable on one host");
    known = home;
  }
  void check_homes(int process, const Statement& s) const {
    for (const std::int8_t v : {s.local, s.operand, s.operand2})
      if (v != kNobody && program_.home_of(v) != process) fail("local variables on the process's host");
  }

  std::string_view text_;
  std::size_t i_ = 0;
  Program program_;
};

/// Compares the parts after the size.
int compare(const Program& a, const Program& b) {
  for (int p = 0; p < std::min(a.processes, b.processes); ++p)
    if (const int d = a.actions_of(p) - b.actions_of(p); d != 0) return d;
  for (int i = 0; i < std::min(a.count, b.count); ++i)
    if (const auto order = a.statement(i) <=> b.statement(i); order != 0) return order < 0 ? -1 : 1;
  return a.count - b.count;
}

}  // namespace

int Program::actions_of(int process) const {
  int n = 0;
  for (int i = begin_of(process); i < end_of(process); ++i) n += actions(statement(i).kind);
  return n;
}

int Program::size() const {
  int n = variables;
  for (int i = 0; i < count; ++i) n += actions(statement(i).kind);
  return n;
}

bool before(const Program& a, const Program& b) {
  const int difference = a.size() - b.size();
  return difference != 0 ? difference < 0 : compare(a, b) < 0;
}

bool same(const Program& a, const Program& b) { return !before(a, b) && !before(b, a); }

std::string text(const Program& program) {
  std::string out;
  for (int p = 0; p < program.processes; ++p) {
    if (p > 0) out += '_';
    for (int i = program.begin_of(p); i < program.end_of(p); ++i) {
      const Statement& s = program.statement(i);
      if (i > program.begin_of(p)) out += '.';
      out += kKindLetters[static_cast<std::size_t>(s.kind)];
      for (const std::int8_t v : {s.local, s.remote, s.operand, s.operand2})
        if (v != kNobody) out += static_cast<char>('a' + v);
      if (s.host != kNobody) out += static_cast<char>('0' + s.host);
    }
  }
  return out;
}

Program parse_program(std::string_view text) { return Reader(text).run(); }

Program reordered(const Program& program, const std::array<int, kProcessesMax>& order) {
  Program result;
  result.processes = program.processes;
  Renumbering renumber(program, result);
  for (int p = 0; p < program.processes; ++p) renumber.name_host(order[index(p)], p);
  for (int p = 0; p < program.processes; ++p) {
    for (int i = program.begin_of(order[index(p)]); i < program.end_of(order[index(p)]); ++i)
      result.statements[index(result.count++)] = renumber(program.statement(i));
    result.end[index(p)] = static_cast<std::int8_t>(result.count);
  }
  return result;
}

bool is_canonical(const Program& program) {
  std::array<int, kProcessesMax> order{};
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + program.processes;
  const auto more_actions = [&](int p, int q) { return program.actions_of(p) > program.actions_of(q); };
  for (int p = 0; p + 1 < program.processes; ++p)
    if (more_actions(p + 1, p)) return false;
  if (compare(reordered(program, order), program) != 0) return false;
  while (std::next_permutation(order.begin(), last)) {
    const bool sorted = std::is_sorted(order.begin(), last, more_actions);
    if (sorted && compare(reordered(program, order), program) < 0) return false;
  }
  return true;
}

}  // namespace loco::model::corerma
