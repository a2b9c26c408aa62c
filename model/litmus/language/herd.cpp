#include "model/litmus/language/herd.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/litmus/language/herd_scanner.hpp"
#include "model/litmus/language/parser.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

constexpr int kNode = 1;

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
  std::string opcode() {
    std::string op = in_.word();
    for (char& ch : op) ch = static_cast<char>(std::toupper(static_cast<unsigned char>(ch)));
    return op;
  }
  void instruction(int t) {
    in_.skip();
    const std::size_t begin = in_.place();
    const std::string op = opcode();
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
    const std::string op = opcode();
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
  HerdScanner in_;
  std::string name_;
  std::map<std::string, Value> init_;
  std::map<std::pair<int, std::string>, Value> register_init_;
  std::set<std::pair<int, std::string>> registers_;
  std::vector<std::vector<std::string>> code_;
  std::vector<std::pair<int, std::string>> observed_;
  HerdCondition condition_;
};

}  // namespace

Program parse_herd(std::string_view text, const std::string& file) { return HerdReader(text, file).run(); }

}  // namespace loco::model::litmus
