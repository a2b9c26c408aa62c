// The lower half of the statement parser: tokens, names, instructions, expressions. Internal to statements.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/litmus/language/names.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/litmus/language/statements.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

inline constexpr int kNestingMax = 64;           // of blocks and of parentheses
inline constexpr int kInstructionsMax = 20'000;  // per thread
inline constexpr int kTermsMax = 2'000;          // operands and operators, per statement

class StatementReader {
 protected:
  StatementReader(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens)
      : context_(context),
        program_(context.program),
        thread_(thread),
        self_(at(context.program.threads, thread)),
        code_(code),
        tokens_(tokens),
        core_(is_corerma(context.model)) {}

  // --- tokens ---
  const Token& peek(int ahead = 0) const {
    const auto i = std::min(next_ + static_cast<std::size_t>(ahead), tokens_.size() - 1);
    return tokens_[i];
  }
  const Token& take() {
    const Token& t = peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return t;
  }
  [[noreturn]] void fail(const Token& t, const std::string& expected, const std::string& hint = "",
                         const std::string& note = "") const {
    throw text::InputError({context_.file, t.at}, "", expected, describe(t) + note, hint);
  }
  void expect(std::string_view symbol) {
    if (!peek().is(symbol)) fail(peek(), "'" + std::string(symbol) + "'");
    take();
  }
  bool accept(std::string_view symbol) {
    if (!peek().is(symbol)) return false;
    take();
    return true;
  }
  void skip_separators() {
    while (peek().kind == TokenKind::separator) take();
  }
  struct Depth {  // bounds recursion on hostile input
    explicit Depth(StatementReader& p) : parser(p) {
      if (++parser.depth_ > kNestingMax) parser.fail(parser.peek(), "at most 64 levels of nesting");
    }
    ~Depth() { --parser.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    StatementReader& parser;
  };

  // --- instructions and expressions ---
  Instruction make(Op op, Library library = Library::rdmawait) const {
    Instruction i;
    i.op = op;
    i.library = library;
    i.atomic = context_.atomic;
    return i;
  }
  int emit(Instruction instruction) {
    if (len(self_.code) >= kInstructionsMax) fail(peek(), "at most 20000 instructions in a thread");
    self_.code.push_back(std::move(instruction));
    return len(self_.code) - 1;
  }
  int add(Expr e) {
    if (++terms_ > kTermsMax) fail(peek(), "at most 2000 operands and operators in a statement");
    return program_.add(e);
  }
  int constant(Value v) { return add({ExprOp::constant, v, kNone, kNone, kNone}); }
  int reg_expr(int reg) { return add({ExprOp::reg, 0, reg, kNone, kNone}); }
  int temporary() { return self_.temporary(); }
  int fresh_location(Value init) { return program_.add_fresh_word(self_.node, init); }
  int find_register(std::string_view name) const { return find_name(self_.registers, name); }

  // --- names ---
  std::vector<std::string> location_names() const {
    std::vector<std::string> names;
    for (const Location& l : program_.locations)
      if (!l.fresh) names.push_back(l.name);
    return names;
  }
  /// A location this thread's CPU may touch, of one of the given kinds.
  int local(const Token& t, int index) const {
    const Location& l = at(program_.locations, index);
    if (l.kind != LocationKind::shared && l.node != self_.node)
      fail(t, "a location on node " + std::to_string(self_.node) + ", the thread's own", "",
           " on node " + std::to_string(l.node));
    return index;
  }
  int location_argument(LocationKind kind, std::string_view what) {
    const Token& t = take();
    const int i = t.kind == TokenKind::identifier ? find_location(program_, t.text) : kNone;
    if (i == kNone) fail(t, std::string(what), text::suggestion(t.text, location_names()));
    const LocationKind found = at(program_.locations, i).kind;
    if (found != kind)
      fail(t, std::string(what), "",
           found == LocationKind::shared  ? ", a shared location"
           : found == LocationKind::tuple ? ", a location that holds tuples"
                                          : ", a location that holds one word");
    return i;
  }
  /// coreRMA: the word `atomic` or `nonatomic` behind a location, about that access alone.
  std::optional<bool> single_atomicity() {
    if (!core_ || !(peek().is_word("atomic") || peek().is_word("nonatomic"))) return std::nullopt;
    return take().text == "atomic";
  }
  int node_argument() {
    const Token& t = take();
    if (t.kind != TokenKind::number || t.number > 65'535) fail(t, "a node number");
    return static_cast<int>(t.number);
  }
  /// Fences may name a node without threads and locations; copies must be on a node that has some.
  std::vector<int> node_set(bool of_fence) {
    std::vector<int> nodes;
    expect("{");
    do {
      const Token& t = peek();
      nodes.push_back(node_argument());
      if (!of_fence && !has_node(program_, nodes.back())) fail(t, "the node of a thread or location");
    } while (accept(","));
    expect("}");
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }
  int work_id() {
    const Token& t = take();
    if (t.kind != TokenKind::identifier && t.kind != TokenKind::number) fail(t, "a work identifier");
    return program_.work_id(t.text);
  }
  int optional_work_id() {
    if (!peek().is_word("as")) return kNone;
    take();
    return work_id();
  }
  template <class Named>
  int object_argument(const std::vector<Named>& list, std::string_view what) {
    const Token& t = take();
    const int i = t.kind == TokenKind::identifier ? find_name(list, t.text) : kNone;
    std::vector<std::string> names;
    for (const Named& n : list) names.push_back(n.name);
    if (i == kNone) fail(t, std::string(what), text::suggestion(t.text, names));
    return i;
  }
  void require_participant(const Token& t, const std::vector<int>& threads, const std::string& role) const {
    if (std::find(threads.begin(), threads.end(), thread_) == threads.end())
      fail(t, "a call by " + role, "", " called by thread " + std::to_string(thread_));
  }

  // --- expressions: each location named in one is read, from left to right, into a temporary ---
  int expression() { return binary(0); }

  struct BinaryOp {
    std::string_view symbol;
    int level;
    ExprOp op;
  };
  static std::optional<BinaryOp> binary_op(const Token& t) {
    static constexpr BinaryOp kOps[] = {
        {"||", 0, ExprOp::logical_or}, {"&&", 1, ExprOp::logical_and}, {"==", 2, ExprOp::eq}, {"!=", 2, ExprOp::ne},
        {"<", 3, ExprOp::lt},          {"<=", 3, ExprOp::le},          {">", 3, ExprOp::gt},  {">=", 3, ExprOp::ge},
        {"+", 4, ExprOp::add},         {"-", 4, ExprOp::sub},          {"*", 5, ExprOp::mul}};
    for (const BinaryOp& o : kOps)
      if (t.is(o.symbol)) return o;
    return std::nullopt;
  }
  int binary(int level) {
    const Depth depth(*this);
    int lhs = unary();
    for (;;) {
      const auto op = binary_op(peek());
      if (!op || op->level < level) return lhs;
      take();
      const int rhs = binary(op->level + 1);
      lhs = add({op->op, 0, kNone, lhs, rhs});
    }
  }
  int unary() {
    const Depth depth(*this);
    if (accept("-")) {
      if (peek().kind == TokenKind::number) return constant(-take().number);
      return add({ExprOp::negate, 0, kNone, unary(), kNone});
    }
    if (accept("!")) return add({ExprOp::logical_not, 0, kNone, unary(), kNone});
    if (accept("(")) {
      const int e = expression();
      expect(")");
      return e;
    }
    return primary();
  }
  int primary() {
    const Token& t = take();
    if (t.kind == TokenKind::number) return constant(t.number);
    if (t.is_word("true")) return constant(kTrue);
    if (t.is_word("false")) return constant(kFalse);
    if (t.is_word("empty")) return constant(kEmpty);
    if (t.is_word("bottom")) return constant(kBottom);
    if (t.kind != TokenKind::identifier) fail(t, "an expression");
    if (const int r = find_register(t.text); r != kNone) return reg_expr(r);
    const int l = find_location(program_, t.text);
    if (l == kNone) {
      auto names = location_names();
      for (const Register& r : self_.registers)
        if (!r.temporary) names.push_back(r.name);
      fail(t, "a location, or a register of this thread", text::suggestion(t.text, names));
    }
    if (at(program_.locations, l).kind == LocationKind::tuple) fail(t, "tryread for a location that holds tuples");
    Instruction i =
        make(Op::read, at(program_.locations, l).kind == LocationKind::shared ? Library::sv : Library::rdmawait);
    i.location = local(t, l);
    i.target = temporary();
    emit(i);
    return reg_expr(i.target);
  }
  int tuple_literal() {
    expect("[");
    std::vector<Value> elements;
    do {
      const bool minus = accept("-");
      const Token& t = take();
      if (t.kind != TokenKind::number) fail(t, "an integer");
      elements.push_back(minus ? -t.number : t.number);
    } while (accept(","));
    expect("]");
    return constant(program_.intern(elements));
  }

  StatementContext& context_;
  Program& program_;
  int thread_;
  Thread& self_;
  std::string_view code_;
  const std::vector<Token>& tokens_;
  bool core_;
  std::size_t next_ = 0;
  int depth_ = 0;
  int terms_ = 0;  // of the statement at hand
};

}  // namespace loco::model::litmus
