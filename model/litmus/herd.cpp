#include "model/litmus/herd.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/litmus/parser.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

constexpr int kNode = 1;

/// Characters of a file with their places; comments are blanks.
class Scanner {
 public:
  Scanner(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    const bool c = is("C");  // where (*x is an access
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
      if (c && text_[i] == '(' && i + 2 < text_.size() && is_word(text_[i + 2])) continue;
      const std::string_view two = std::string_view(text_).substr(i, 2);
      if (two != "(*" && two != "//") continue;
      const std::string_view close = two == "(*" ? "*)" : "\n";
      const std::size_t end = std::min(text_.find(close, i + 2), text_.size());
      const std::size_t last = two == "(*" ? std::min(end + 2, text_.size()) : end;
      for (; i < last; ++i)
        if (text_[i] != '\n') text_[i] = ' ';
      --i;
    }
  }

  [[noreturn]] void fail(const std::string& expected) {
    skip();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string found = text_.substr(at_, std::max<std::size_t>(1, end - at_));
    int line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n' ? 1 : 0;
    }
    throw text::InputError({file_, line, column}, "", expected,
                           at_ >= text_.size() ? "the end of the file" : text::in_quotes(found));
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] bool ends() {
    skip();
    return at_ >= text_.size();
  }
  [[nodiscard]] bool is(std::string_view symbol) {
    skip();
    if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
    return !is_word(symbol.back()) || at_ + symbol.size() >= text_.size() || !is_word(text_[at_ + symbol.size()]);
  }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("'" + std::string(symbol) + "'");
  }
  /// A word, or nothing.
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string identifier(const std::string& expected) {
    skip();
    const std::size_t begin = at_;
    const std::string w = word();
    if (w.empty() || std::isdigit(static_cast<unsigned char>(w[0])) != 0) {
      at_ = begin;
      fail(expected);
    }
    return w;
  }
  Value number(const std::string& expected = "an integer") {
    skip();
    const std::size_t begin = at_;
    const bool minus = accept("-");
    const auto v = text::parse_integer(word());
    if (!v || *v > kValueMax || *v < -kValueMax) {
      at_ = begin;
      fail(expected);
    }
    return minus ? -*v : *v;
  }
  /// Up to the end of the line, or a character that is not part of it.
  std::string rest_of_line(std::string_view but = {}) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n' && but.find(text_[at_]) == std::string_view::npos) ++at_;
    std::string s = text_.substr(begin, at_ - begin);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.pop_back();
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.erase(s.begin());
    return s;
  }
  [[nodiscard]] std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }

 private:
  std::string text_;
  std::string file_;
  std::size_t at_ = 0;
};

std::string own_name(int thread, const std::string& reg) { return "t" + std::to_string(thread) + "_" + reg; }
std::string own_location(const std::string& name) { return "l_" + name; }

class HerdReader {
 public:
  HerdReader(std::string_view text, std::string file) : file_(std::move(file)), in_(text, file_) {}

  Program run() {
    const std::size_t begin = in_.place();
    const std::string arch = in_.word();
    const bool c = arch == "C";
    if (!c && arch != "X86" && arch != "X86_64") {
      in_.go_to(begin);
      in_.fail("a test of X86, X86_64 or C");
    }
    in_.skip();
    name_ = in_.rest_of_line();
    while (!in_.is("{")) {
      if (in_.ends()) in_.fail("'{', and the initial state");
      in_.skip();
      (void)in_.rest_of_line("{");
    }
    initial_state();
    c ? functions() : columns();
    if (in_.accept("locations")) locations();
    condition();
    if (!in_.ends()) in_.fail("the end of the file");
    return program();
  }

 private:
  // --- the initial state ---
  void initial_state() {
    in_.expect("{");
    while (!in_.accept("}")) {
      if (in_.accept(";")) continue;
      int thread = kNone;
      std::string name;
      const bool bracket = in_.accept("[");
      for (;;) {  // types before the name
        in_.skip();
        const std::size_t begin = in_.place();
        name = in_.word();
        if (name.empty()) in_.fail("a location or a register");
        if (in_.accept(":")) {
          thread = thread_number(name, begin);
          name = in_.identifier("a register");
          break;
        }
        if (in_.is("=") || in_.is(";") || in_.is("}") || in_.is("]")) break;
        while (in_.accept("*")) {
        }
      }
      if (bracket) in_.expect("]");
      const Value v = in_.accept("=") ? in_.number("an integer: addresses in registers are not read") : 0;
      if (thread == kNone)
        init_[name] = v;
      else
        register_init_[{thread, name}] = v;
      if (!in_.is("}")) in_.expect(";");
    }
  }
  int thread_number(const std::string& word, std::size_t place) {
    const auto v = text::parse_integer(word);
    if (!v || *v < 0 || *v >= kThreadsMax) {
      in_.go_to(place);
      in_.fail("a thread's number");
    }
    return static_cast<int>(*v);
  }

  // --- X86 ---
  void columns() {
    do {
      in_.skip();
      const std::size_t begin = in_.place();
      if (in_.word() != "P" + std::to_string(code_.size())) {
        in_.go_to(begin);
        in_.fail("the column P" + std::to_string(code_.size()));
      }
      code_.emplace_back();
    } while (in_.accept("|"));
    in_.expect(";");
    while (!in_.is("exists") && !in_.is("forall") && !in_.is("~") && !in_.is("locations") && !in_.is("filter") &&
           !in_.is("not")) {
      for (std::size_t t = 0; t < code_.size(); ++t) {
        if (t > 0) in_.expect("|");
        if (!in_.is("|") && !in_.is(";")) instruction(static_cast<int>(t));
      }
      in_.expect(";");
    }
  }
  void instruction(int t) {
    in_.skip();
    const std::size_t begin = in_.place();
    std::string op = in_.word();
    for (char& ch : op) ch = static_cast<char>(std::toupper(static_cast<unsigned char>(ch)));
    if (op == "MFENCE") return emit(t, "mfence");
    if (op == "XCHG") return exchange(t);
    if (op == "LOCK") return compare_exchange(t);
    if (op != "MOV" && op != "MOVL" && op != "MOVQ") {
      in_.go_to(begin);
      in_.fail("MOV, MFENCE, XCHG or LOCK CMPXCHG");
    }
    if (in_.accept("[")) {
      const std::string x = location();
      in_.expect("]");
      in_.expect(",");
      return emit(t, x + " = " + operand(t));
    }
    const std::string r = use(t, in_.identifier("a register or a location in brackets"));
    in_.expect(",");
    if (in_.accept("[")) {
      const std::string x = location();
      in_.expect("]");
      return emit(t, r + " = " + x);
    }
    emit(t, r + " = " + operand(t));
  }
  /// `XCHG [x],EAX`, or the other way round: locked without being told so (Intel SDM 2, XCHG).
  void exchange(int t) {
    std::string x, r;
    const auto side = [&] {
      if (in_.accept("[")) {
        x = location();
        in_.expect("]");
      } else {
        r = use(t, in_.identifier("a register or a location in brackets"));
      }
    };
    side();
    in_.expect(",");
    side();
    if (x.empty() || r.empty()) in_.fail("a register and a location");
    emit(t, r + " = xchg(" + x + ", " + r + ")");
  }
  /// `LOCK CMPXCHG [x],EBX`: compares with EAX (RAX with a register of 64 bits), which gets what was there.
  void compare_exchange(int t) {
    in_.skip();
    const std::size_t begin = in_.place();
    std::string op = in_.word();
    for (char& ch : op) ch = static_cast<char>(std::toupper(static_cast<unsigned char>(ch)));
    if (op != "CMPXCHG") {
      in_.go_to(begin);
      in_.fail("CMPXCHG");
    }
    in_.expect("[");
    const std::string x = location();
    in_.expect("]");
    in_.expect(",");
    const std::string name = in_.identifier("a register");
    const std::string value = use(t, name), compared = use(t, name[0] == 'R' || name[0] == 'r' ? "RAX" : "EAX");
    emit(t, compared + " = cas(" + x + ", " + compared + ", " + value + ")");
  }
  std::string operand(int t) {
    if (in_.accept("$")) return std::to_string(in_.number());
    return use(t, in_.identifier("$ and an integer, or a register"));
  }
  std::string location() {
    const std::string x = in_.identifier("a location");
    init_.try_emplace(x, 0);
    return own_location(x);
  }
  std::string use(int t, const std::string& reg) {
    registers_.insert({t, reg});
    return own_name(t, reg);
  }
  void emit(int t, const std::string& statement) { at(code_, t).push_back(statement); }

  // --- C ---
  void functions() {
    while (in_.is("P" + std::to_string(code_.size()))) {
      (void)in_.word();
      const int t = static_cast<int>(code_.size());
      code_.emplace_back();
      in_.expect("(");
      while (!in_.accept(")")) {
        if (in_.ends()) in_.fail("')'");
        if (!in_.accept("*") && !in_.accept(",") && in_.word().empty()) in_.fail("parameters");
      }
      in_.expect("{");
      while (!in_.accept("}")) statement(t);
    }
    if (code_.empty()) in_.fail("the function P0");
  }
  void statement(int t) {
    if (in_.accept(";")) return;
    if (in_.accept("*")) {
      const std::string x = location();
      in_.expect("=");
      emit(t, x + " = " + expression(t));
    } else {
      in_.skip();
      const std::size_t begin = in_.place();
      std::string w = in_.identifier("a statement");
      if (in_.is("(")) {
        in_.go_to(begin);
        call(t);
      } else {
        while (!in_.is("=") && !in_.is(";")) w = in_.identifier("a register");  // behind its type
        const std::string r = use(t, w);
        if (in_.accept("=")) emit(t, r + " = " + expression(t));
      }
    }
    in_.expect(";");
  }
  /// The calls that do something by themselves.
  void call(int t) {
    in_.skip();
    const std::size_t begin = in_.place();
    const std::string w = in_.word();
    in_.expect("(");
    if (w == "WRITE_ONCE" || w == "atomic_store_explicit" || w == "atomic_store" || w == "smp_store_release") {
      (void)in_.accept("*");
      const std::string x = location();
      in_.expect(",");
      const std::string v = expression(t);
      const bool strong = w == "atomic_store" || (w == "atomic_store_explicit" && order() == "memory_order_seq_cst");
      in_.expect(")");
      emit(t, x + " = " + v);
      if (strong) emit(t, "mfence");
    } else if (w == "smp_mb") {
      in_.expect(")");
      emit(t, "mfence");
    } else if (w == "smp_wmb" || w == "smp_rmb") {
      in_.expect(")");
    } else if (w == "atomic_thread_fence") {
      if (in_.identifier("a memory order") == "memory_order_seq_cst") emit(t, "mfence");
      in_.expect(")");
    } else {
      in_.go_to(begin);
      in_.fail("WRITE_ONCE, atomic_store, atomic_store_explicit, atomic_thread_fence, smp_mb, smp_wmb or smp_rmb");
    }
  }
  std::string order() {
    in_.expect(",");
    return in_.identifier("a memory order");
  }
  /// A sum of loads, registers and integers.
  std::string expression(int t) {
    std::string s = term(t);
    while (in_.accept("+")) s += " + " + term(t);
    return s;
  }
  std::string term(int t) {
    if (in_.accept("*")) return location();
    in_.skip();
    const std::size_t begin = in_.place();
    const std::string w = in_.word();
    if (w == "READ_ONCE" || w == "atomic_load_explicit" || w == "atomic_load" || w == "smp_load_acquire") {
      in_.expect("(");
      (void)in_.accept("*");
      const std::string x = location();
      if (w == "atomic_load_explicit") (void)order();
      in_.expect(")");
      return x;
    }
    in_.go_to(begin);
    if (!w.empty() && std::isdigit(static_cast<unsigned char>(w[0])) == 0) return use(t, in_.word());
    return std::to_string(in_.number("a load, a register or an integer"));
  }

  // --- conditions ---
  void locations() {
    in_.expect("[");
    while (!in_.accept("]")) {
      (void)observed();
      if (!in_.is("]")) in_.expect(";");
    }
  }
  /// `0:EAX`, `x` or `[x]`: its number among those that the states show.
  int observed() {
    std::pair<int, std::string> key{kNone, ""};
    if (in_.accept("[")) {
      key.second = in_.identifier("a location");
      in_.expect("]");
    } else {
      in_.skip();
      const std::size_t begin = in_.place();
      key.second = in_.word();
      if (in_.accept(":")) {
        key.first = thread_number(key.second, begin);
        key.second = in_.identifier("a register");
        if (key.first >= static_cast<int>(code_.size())) {
          in_.go_to(begin);
          in_.fail("one of the " + std::to_string(code_.size()) + " threads, from 0");
        }
      } else if (key.second.empty() || std::isdigit(static_cast<unsigned char>(key.second[0])) != 0) {
        in_.go_to(begin);
        in_.fail("a register, like 0:EAX, or a location");
      }
    }
    if (key.first == kNone)
      init_.try_emplace(key.second, 0);
    else
      registers_.insert(key);
    const auto known = std::find(observed_.begin(), observed_.end(), key);
    if (known != observed_.end()) return static_cast<int>(known - observed_.begin());
    observed_.push_back(key);
    return static_cast<int>(observed_.size()) - 1;
  }
  void condition() {
    using Quantifier = HerdCondition::Quantifier;
    if (in_.is("filter")) in_.fail("no filter");
    const bool negated = in_.accept("~") || in_.accept("not");
    if (in_.accept("exists"))
      condition_.quantifier = negated ? Quantifier::not_exists : Quantifier::exists;
    else if (!negated && in_.accept("forall"))
      condition_.quantifier = Quantifier::forall;
    else
      in_.fail("exists, ~exists or forall");
    condition_.root = either(0);
  }
  int add(HerdCondition::Node n) {
    condition_.nodes.push_back(n);
    return static_cast<int>(condition_.nodes.size()) - 1;
  }
  int either(int depth) {
    using Kind = HerdCondition::Node::Kind;
    int left = both(depth);
    while (in_.accept("\\/")) left = add({Kind::either, kNone, 0, left, both(depth)});
    return left;
  }
  int both(int depth) {
    using Kind = HerdCondition::Node::Kind;
    int left = negation(depth);
    while (in_.accept("/\\")) left = add({Kind::both, kNone, 0, left, negation(depth)});
    return left;
  }
  int negation(int depth) {
    using Kind = HerdCondition::Node::Kind;
    if (depth > 64) in_.fail("at most 64 levels of nesting");
    if (in_.accept("~") || in_.accept("not")) return add({Kind::negation, kNone, 0, negation(depth + 1), kNone});
    if (in_.accept("(")) {
      const int inner = either(depth + 1);
      in_.expect(")");
      return inner;
    }
    if (in_.accept("true")) return add({Kind::truth, kNone, 0, kNone, kNone});
    const int o = observed();
    const bool differs = in_.accept("!=") || in_.accept("<>");
    if (!differs) in_.expect("=");
    const int atom = add({Kind::equal, o, in_.number(), kNone, kNone});
    return differs ? add({Kind::negation, kNone, 0, atom, kNone}) : atom;
  }

  // --- the program: a document of ours, of which the states show what herd's do ---
  Program program() {
    std::string s = "model: rdmawait\nlocations:\n";
    for (const auto& [x, v] : init_)
      s += "  " + own_location(x) + ": {node: " + std::to_string(kNode) + ", init: " + std::to_string(v) + "}\n";
    if (init_.empty()) s += "  l_none: {node: " + std::to_string(kNode) + "}\n";
    s += "threads:\n";
    for (int t = 0; t < len(code_); ++t) {
      s += "- {node: " + std::to_string(kNode) + ", code: \"";
      for (const auto& [thread, reg] : registers_)
        if (thread == t) {
          const auto init = register_init_.find({t, reg});
          s += own_name(t, reg) + " = " + std::to_string(init == register_init_.end() ? 0 : init->second) + "; ";
        }
      for (const std::string& statement : at(code_, t)) s += statement + "; ";
      s += "\"}\n";
    }
    s += "final: [";
    bool first = true;
    for (const auto& [thread, x] : observed_)
      if (thread == kNone) s += (std::exchange(first, false) ? "" : ", ") + own_location(x);
    Program p = parse_text(s + "]\n", file_).front();
    p.name = name_.empty() ? "unnamed" : name_;
    show_observed(p);
    return p;
  }
  void show_observed(Program& p) {
    std::vector<int> order(observed_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const auto key = [&](int i) {
      const auto& [thread, name] = at(observed_, i);
      return std::pair(thread == kNone ? kThreadsMax : thread, name);
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    std::vector<Observable> shown;
    std::vector<int> place(order.size());
    for (const int i : order) {
      const auto& [thread, name] = at(observed_, i);
      const std::string own = thread == kNone ? own_location(name) : own_name(thread, name);
      const auto o = std::find_if(p.observables.begin(), p.observables.end(),
                                  [&, &t = thread](const Observable& x) { return x.name == own && x.thread == t; });
      at(place, i) = len(shown);
      shown.push_back(*o);
      shown.back().name = thread == kNone ? "[" + name + "]" : std::to_string(thread) + ":" + name;
    }
    for (HerdCondition::Node& n : condition_.nodes)
      if (n.observable != kNone) n.observable = at(place, n.observable);
    for (const Observable& o : shown) condition_.names.push_back(o.name);
    p.observables = std::move(shown);
    p.condition = std::move(condition_);
  }

  std::string file_;
  Scanner in_;
  std::string name_;
  std::map<std::string, Value> init_;
  std::map<std::pair<int, std::string>, Value> register_init_;
  std::set<std::pair<int, std::string>> registers_;
  std::vector<std::vector<std::string>> code_;
  std::vector<std::pair<int, std::string>> observed_;
  HerdCondition condition_;
};

std::string text_of(const HerdCondition& c, int node) {
  using Kind = HerdCondition::Node::Kind;
  const HerdCondition::Node& n = at(c.nodes, node);
  switch (n.kind) {
    case Kind::truth:
      return "true";
    case Kind::equal:
      return at(c.names, n.observable) + "=" + std::to_string(n.value);
    case Kind::negation:
      return "not (" + text_of(c, n.lhs) + ")";
    case Kind::both:
    case Kind::either: {
      const auto side = [&](int s) {
        const bool wrap = n.kind == Kind::both && at(c.nodes, s).kind == Kind::either;
        return wrap ? "(" + text_of(c, s) + ")" : text_of(c, s);
      };
      return side(n.lhs) + (n.kind == Kind::both ? " /\\ " : " \\/ ") + side(n.rhs);
    }
  }
  return "";
}

bool holds_at(const HerdCondition& c, int node, OutcomeView o) {
  using Kind = HerdCondition::Node::Kind;
  const HerdCondition::Node& n = at(c.nodes, node);
  switch (n.kind) {
    case Kind::truth:
      return true;
    case Kind::equal:
      return at(o, n.observable) == n.value;
    case Kind::negation:
      return !holds_at(c, n.lhs, o);
    case Kind::both:
      return holds_at(c, n.lhs, o) && holds_at(c, n.rhs, o);
    case Kind::either:
      return holds_at(c, n.lhs, o) || holds_at(c, n.rhs, o);
  }
  return false;
}

}  // namespace

Program parse_herd(std::string_view text, const std::string& file) { return HerdReader(text, file).run(); }

bool holds(const HerdCondition& condition, OutcomeView outcome) { return holds_at(condition, condition.root, outcome); }

std::string text(const HerdCondition& c) {
  using Quantifier = HerdCondition::Quantifier;
  const char* const word = c.quantifier == Quantifier::exists   ? "exists"
                           : c.quantifier == Quantifier::forall ? "forall"
                                                                : "~exists";
  return std::string(word) + " (" + text_of(c, c.root) + ")";
}

namespace {

/// As in the file that the program is from, if it is one of herd's.
std::string location_name(const Program& p, int location) {
  const std::string& name = at(p.locations, location).name;
  return p.condition && name.starts_with("l_") ? name.substr(2) : name;
}

/// X86 of one thread, an instruction a line; nothing where it has none.
std::optional<std::vector<std::string>> x86(const Program& p, const Thread& t, std::map<int, std::string>& registers) {
  static const std::vector<std::string> kRegisters = {"EAX", "EBX", "ECX", "EDX", "ESI", "EDI"};
  std::vector<std::string> lines;
  const auto reg = [&](int r) -> std::optional<std::string> {
    if (const auto known = registers.find(r); known != registers.end()) return known->second;
    if (registers.size() == kRegisters.size()) return std::nullopt;
    return registers[r] = kRegisters[registers.size()];
  };
  for (const Instruction& i : t.code) {
    const Expr* const e = i.expr == kNone ? nullptr : &at(p.exprs, i.expr);
    std::optional<std::string> value;
    if (e != nullptr && e->op == ExprOp::constant && is_integer(e->constant)) value = "$" + std::to_string(e->constant);
    if (e != nullptr && e->op == ExprOp::reg) value = reg(e->reg);
    const bool plain = i.location != kNone && at(p.locations, i.location).kind == LocationKind::word;
    if (i.op == Op::mfence) {
      lines.emplace_back("MFENCE");
    } else if (i.op == Op::read && plain) {
      const auto r = reg(i.target);
      if (!r) return std::nullopt;
      lines.push_back("MOV " + *r + ",[" + location_name(p, i.location) + "]");
    } else if (i.op == Op::write && plain && value) {
      lines.push_back("MOV [" + location_name(p, i.location) + "]," + *value);
    } else if (i.op == Op::assign && value) {
      const auto r = reg(i.target);
      if (!r) return std::nullopt;
      lines.push_back("MOV " + *r + "," + *value);
    } else {
      return std::nullopt;
    }
  }
  return lines;
}

}  // namespace

std::optional<std::string> to_herd_file(const Program& p) {
  if (is_corerma(p.model) || p.threads.empty()) return std::nullopt;
  std::vector<std::vector<std::string>> columns;
  std::vector<std::map<int, std::string>> registers(p.threads.size());
  std::size_t rows = 0;
  for (int t = 0; t < len(p.threads); ++t) {
    if (at(p.threads, t).node != p.threads.front().node) return std::nullopt;
    auto lines = x86(p, at(p.threads, t), at(registers, t));
    if (!lines) return std::nullopt;
    rows = std::max(rows, lines->size());
    columns.push_back(std::move(*lines));
  }
  std::string s = "X86 " + p.name + "\n{";
  for (int l = 0; l < len(p.locations); ++l)
    s += " " + location_name(p, l) + "=" + std::to_string(at(p.locations, l).init) + ";";
  s += " }\n";
  std::vector<std::size_t> width;
  for (int t = 0; t < len(columns); ++t) {
    std::size_t w = 3;
    for (const std::string& line : at(columns, t)) w = std::max(w, line.size());
    width.push_back(w);
  }
  const auto row = [&](const auto& cell) {
    for (int t = 0; t < len(columns); ++t) {
      const std::string text = cell(t);
      s += (t > 0 ? " | " : " ") + text + std::string(at(width, t) - text.size(), ' ');
    }
    s += " ;\n";
  };
  row([](int t) { return "P" + std::to_string(t); });
  for (std::size_t r = 0; r < rows; ++r)
    row([&](int t) { return r < at(columns, t).size() ? at(columns, t)[r] : std::string(); });
  // the outcomes that the document asks for: one that is allowed, or all that are forbidden
  const auto name = [&](const Observable& o) {
    if (o.thread == kNone) return location_name(p, o.location);
    const auto& known = at(registers, o.thread);
    const auto r = known.find(o.reg);
    return std::to_string(o.thread) + ":" + (r == known.end() ? std::string("EAX") : r->second);
  };
  s += "locations [";
  for (const Observable& o : p.observables) s += name(o) + ";";
  s += "]\n";
  if (p.condition) {
    HerdCondition named = *p.condition;
    for (std::size_t o = 0; o < named.names.size(); ++o) named.names[o] = name(p.observables[o]);
    return s + text(named) + "\n";
  }
  const bool forbidden = p.allowed.empty() && !p.forbidden.empty();
  std::string any;
  for (const PartialOutcome& partial : forbidden ? p.forbidden : p.allowed) {
    std::string all;
    for (const auto& [observable, value] : partial) {
      if (!is_integer(value)) return std::nullopt;
      all += (all.empty() ? "" : " /\\ ") + name(at(p.observables, observable)) + "=" + std::to_string(value);
    }
    any += (any.empty() ? "" : " \\/ ") + (all.empty() ? std::string("true") : "(" + all + ")");
    if (!forbidden) break;  // `exists` asks for one of them
  }
  return s + (forbidden ? "~exists (" : "exists (") + (any.empty() ? "true" : any) + ")\n";
}

}  // namespace loco::model::litmus
