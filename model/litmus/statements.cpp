#include "model/litmus/statements.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/litmus/parser.hpp"

namespace loco::model::litmus {
namespace {

constexpr int kNestingMax = 64;           // of blocks and of parentheses
constexpr int kInstructionsMax = 20'000;  // per thread

int find_location(const Program& p, std::string_view name) {
  for (int i = 0; i < len(p.locations); ++i)
    if (at(p.locations, i).name == name) return i;
  return kNone;
}

template <class Named>
int find_name(const std::vector<Named>& list, std::string_view name) {
  for (int i = 0; i < len(list); ++i)
    if (at(list, i).name == name) return i;
  return kNone;
}

const std::vector<std::string>& statement_words() {
  static const std::vector<std::string> kWords = {"put",   "get", "wait",    "poll",   "rfence",  "mfence", "bcast",
                                                  "gf",    "cas", "barrier", "submit", "receive", "write",  "tryread",
                                                  "flush", "rga", "if",      "else",   "while",   "assert", "as"};
  return kWords;
}

bool is_statement_word(std::string_view name) {
  const auto& w = statement_words();
  return std::find(w.begin(), w.end(), name) != w.end();
}

class StatementParser {
 public:
  StatementParser(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens)
      : context_(context),
        program_(context.program),
        thread_(thread),
        self_(at(context.program.threads, thread)),
        code_(code),
        tokens_(tokens),
        core_(is_corerma(context.model)) {}

  void run() {
    for (const std::string& name : at(context_.registers, thread_)) self_.registers.push_back({name, false});
    block(false);
    assign_waits();
  }

 private:
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
  [[noreturn]] void fail(const Token& t, const std::string& expected, const std::string& hint = "") const {
    throw ParseError(context_.file, t.at, expected, describe(t) + hint);
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
    explicit Depth(StatementParser& p) : parser(p) {
      if (++parser.depth_ > kNestingMax) parser.fail(parser.peek(), "at most 64 levels of nesting");
    }
    ~Depth() { --parser.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    StatementParser& parser;
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
    program_.exprs.push_back(e);
    return len(program_.exprs) - 1;
  }
  int constant(Value v) { return add({ExprOp::constant, v, kNone, kNone, kNone}); }
  int reg_expr(int reg) { return add({ExprOp::reg, 0, reg, kNone, kNone}); }
  int temporary() {
    self_.registers.push_back({"$" + std::to_string(len(self_.registers)), true});
    return len(self_.registers) - 1;
  }
  int fresh_location(Value init) {
    Location l;
    l.name = "$" + std::to_string(len(program_.locations));
    l.node = self_.node;
    l.init = init;
    l.fresh = true;
    program_.locations.push_back(std::move(l));
    return len(program_.locations) - 1;
  }
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
      fail(t, "a location on node " + std::to_string(self_.node) + ", the thread's own",
           " on node " + std::to_string(l.node));
    return index;
  }
  int location_argument(LocationKind kind, std::string_view what) {
    const Token& t = take();
    const int i = t.kind == TokenKind::identifier ? find_location(program_, t.text) : kNone;
    if (i == kNone) fail(t, std::string(what), suggestion(t.text, location_names()));
    const LocationKind found = at(program_.locations, i).kind;
    if (found != kind)
      fail(t, std::string(what),
           found == LocationKind::shared  ? ", a shared location"
           : found == LocationKind::tuple ? ", a location that holds tuples"
                                          : ", a location that holds one word");
    return i;
  }
  int node_argument() {
    const Token& t = take();
    if (t.kind != TokenKind::number || t.number > 65'535) fail(t, "a node number");
    return static_cast<int>(t.number);
  }
  std::vector<int> node_set() {
    std::vector<int> nodes;
    expect("{");
    do nodes.push_back(node_argument());
    while (accept(","));
    expect("}");
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }
  int work_id() {
    const Token& t = take();
    if (t.kind != TokenKind::identifier && t.kind != TokenKind::number) fail(t, "a work identifier");
    const auto it = std::find(program_.work_ids.begin(), program_.work_ids.end(), t.text);
    const auto index = it - program_.work_ids.begin();
    if (it == program_.work_ids.end()) program_.work_ids.push_back(t.text);
    return static_cast<int>(index);
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
    if (i == kNone) fail(t, std::string(what), suggestion(t.text, names));
    return i;
  }
  void require_participant(const Token& t, const std::vector<int>& threads, const std::string& role) const {
    if (std::find(threads.begin(), threads.end(), thread_) == threads.end())
      fail(t, "a call by " + role, " called by thread " + std::to_string(thread_));
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
      fail(t, "a location, or a register of this thread", suggestion(t.text, names));
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

  // --- statements ---
  void block(bool braces) {
    const Depth depth(*this);
    skip_separators();
    while (peek().kind != TokenKind::end && !(braces && peek().is("}"))) {
      statement();
      if (peek().kind != TokenKind::end && !(braces && peek().is("}")) && peek().kind != TokenKind::separator &&
          !closed_block_)
        fail(peek(), "the end of the statement");
      skip_separators();
    }
    if (braces) expect("}");
  }

  void statement() {
    const std::size_t begin = next_;
    const int first = len(self_.code);
    closed_block_ = false;
    const Token& t = peek();
    if (t.kind != TokenKind::identifier) fail(t, "a statement");
    if (t.text == "if" || t.text == "while") {
      t.text == "if" ? if_statement() : while_statement();
      closed_block_ = true;
      return;
    }
    if (peek(1).is("="))
      assignment();
    else if (is_statement_word(t.text))
      call(kNone);
    else
      fail(t, "a statement", suggestion(t.text, statement_words()));
    bool atomic = context_.atomic;
    if (peek().is_word("nonatomic")) {
      if (!core_) fail(peek(), "the end of the statement");
      take();
      atomic = false;
    }
    finish(first, begin, atomic);
  }
  /// Gives the instructions of a statement their position and text.
  void finish(int first, std::size_t begin, bool atomic) {
    const Token& from = tokens_[begin];
    const Token& last = tokens_[next_ > begin ? next_ - 1 : begin];
    const std::string text(code_.substr(from.begin, last.end - from.begin));
    for (int i = first; i < len(self_.code); ++i) {
      Instruction& instruction = at(self_.code, i);
      if (instruction.at.line != 0) continue;
      instruction.at = from.at;
      instruction.text = text;
      instruction.atomic = atomic;
    }
  }

  void if_statement() {
    const Depth depth(*this);
    const std::size_t begin = next_;
    const int first = len(self_.code);
    take();
    expect("(");
    Instruction branch = make(Op::branch_zero);
    branch.expr = expression();
    expect(")");
    const int b = emit(branch);
    finish(first, begin, context_.atomic);
    expect("{");
    block(true);
    // `else` may stand on the next line.
    std::size_t ahead = next_;
    while (tokens_[ahead].kind == TokenKind::separator && tokens_[ahead].text != ";") ++ahead;
    if (!tokens_[ahead].is_word("else")) {
      at(self_.code, b).jump = len(self_.code);
      return;
    }
    next_ = ahead + 1;
    const int j = emit(make(Op::jump));
    at(self_.code, j).at = tokens_[ahead].at;
    at(self_.code, j).text = "else";
    at(self_.code, b).jump = len(self_.code);
    if (peek().is_word("if")) {
      if_statement();
    } else {
      expect("{");
      block(true);
    }
    at(self_.code, j).jump = len(self_.code);
  }
  void while_statement() {
    const std::size_t begin = next_;
    const int first = len(self_.code);
    take();
    expect("(");
    Instruction branch = make(Op::branch_zero);
    branch.expr = expression();
    expect(")");
    const int b = emit(branch);
    finish(first, begin, context_.atomic);
    expect("{");
    block(true);
    Instruction jump = make(Op::jump);
    jump.jump = first;
    jump.at = tokens_[begin].at;
    jump.text = "while";
    emit(jump);
    at(self_.code, b).jump = len(self_.code);
  }

  void assignment() {
    const Token& name = take();
    expect("=");
    const int l = find_location(program_, name.text);
    const int reg = l == kNone ? find_register(name.text) : kNone;
    const bool is_call = peek().kind == TokenKind::identifier && peek(1).is("(");
    if (core_ && is_call) {
      if (l == kNone) fail(name, "a location: coreRMA's remote statements do not write registers");
      core_call(local(name, l));
      return;
    }
    if (l == kNone) {
      if (is_call) {
        call(reg);
        return;
      }
      const int before = len(self_.code);
      const int e = expression();
      // `a = x`: read straight into the register.
      const Expr& expr = at(program_.exprs, e);
      if (len(self_.code) == before + 1 && expr.op == ExprOp::reg && expr.reg == self_.code.back().target &&
          expr.reg == len(self_.registers) - 1) {
        self_.code.back().target = reg;
        self_.registers.pop_back();
        return;
      }
      Instruction i = make(Op::assign);
      i.target = reg;
      i.expr = e;
      emit(i);
      return;
    }
    const LocationKind kind = at(program_.locations, l).kind;
    if (kind == LocationKind::tuple) fail(name, "write(x, [..]) for a location that holds tuples");
    Instruction i = make(Op::write, kind == LocationKind::shared ? Library::sv : Library::rdmawait);
    i.location = local(name, l);
    if (is_call) {
      const int r = temporary();
      call(r);
      i.expr = reg_expr(r);
    } else {
      i.expr = expression();
    }
    emit(i);
  }

  int target_or_temporary(int target) { return target == kNone ? temporary() : target; }

  void call(int target) {
    const Token& word = take();
    const bool returns =
        word.text == "cas" || word.text == "submit" || word.text == "receive" || word.text == "tryread";
    if (target != kNone && !returns)
      fail(word, "cas, submit, receive, tryread or an expression",
           is_statement_word(word.text) ? ", which returns nothing" : suggestion(word.text, statement_words()));
    if (word.text == "mfence") {
      if (accept("(")) expect(")");
      emit(make(Op::mfence));
      return;
    }
    expect("(");
    if (word.text == "put" || word.text == "get")
      transfer(word);
    else if (word.text == "bcast" || word.text == "gf")
      shared_call(word);
    else if (word.text == "submit" || word.text == "receive")
      ring_call(word, target);
    else if (word.text == "write" || word.text == "tryread")
      tuple_call(word, target);
    else if (word.text == "cas" && !core_)
      cas(target);
    else
      simple_call(word);
  }

  void simple_call(const Token& word) {
    if (word.text == "assert") {
      Instruction i = make(Op::assertion);
      i.expr = expression();
      expect(")");
      emit(i);
      return;
    }
    Instruction i = make(Op::wait);
    if (word.text == "wait") {
      i.work_id = work_id();
    } else if (word.text == "poll" || word.text == "rfence" || word.text == "flush") {
      i.op = word.text == "poll" ? Op::poll : word.text == "rfence" ? Op::rfence : Op::flush;
      i.node = node_argument();
    } else if (word.text == "barrier") {
      i = make(Op::barrier, Library::bal);
      const Token& name = peek();
      i.object = object_argument(program_.barriers, "a barrier");
      require_participant(name, at(program_.barriers, i.object).participants, "a participating thread");
    } else {
      fail(word, "a statement");
    }
    expect(")");
    emit(i);
  }

  void cas(int target) {
    Instruction i = make(Op::cas);
    const Token& t = peek();
    i.location = local(t, location_argument(LocationKind::word, "a location on the thread's node"));
    expect(",");
    i.expr = expression();
    expect(",");
    i.expr2 = expression();
    expect(")");
    i.target = target_or_temporary(target);
    emit(i);
  }

  /// A local location, or an expression: a fresh local location that holds its value.
  int local_source(LocationKind kind) {
    if (peek().kind == TokenKind::identifier && find_location(program_, peek().text) != kNone) {
      const Token& t = peek();
      return local(t, location_argument(kind, kind == LocationKind::tuple ? "a local location that holds tuples"
                                                                          : "a local location or a value"));
    }
    if (kind == LocationKind::tuple) fail(peek(), "a local location that holds tuples");
    const int e = expression();
    const Expr& expr = at(program_.exprs, e);
    if (expr.op == ExprOp::constant) return fresh_location(expr.constant);
    Instruction w = make(Op::write);
    w.location = fresh_location(0);
    w.expr = e;
    emit(w);
    return w.location;
  }

  void transfer(const Token& word) {
    const bool put = word.text == "put";
    const Token& first = peek();
    const int known = first.kind == TokenKind::identifier ? find_location(program_, first.text) : kNone;
    const bool tuples = known != kNone && at(program_.locations, known).kind == LocationKind::tuple;
    const LocationKind kind = tuples ? LocationKind::tuple : LocationKind::word;
    Instruction i = make(put ? Op::put : Op::get, tuples ? Library::msw : Library::rdmawait);
    i.location = location_argument(kind, put ? "a location to put to" : "a local location to get into");
    if (!put) i.location = local(first, i.location);
    expect(",");
    i.source = put ? local_source(kind) : location_argument(kind, "a location to get from");
    expect(")");
    i.node = at(program_.locations, put ? i.location : i.source).node;
    i.work_id = optional_work_id();
    emit(i);
  }

  void core_call(int destination) {
    const Token& word = take();
    Instruction i = make(word.text == "get" ? Op::get : word.text == "rga" ? Op::rga : Op::remote_cas);
    if (i.op == Op::remote_cas && word.text != "cas") fail(word, "get, rga or cas");
    expect("(");
    i.location = destination;
    i.source = location_argument(LocationKind::word, "a location of the target");
    i.node = at(program_.locations, i.source).node;
    if (i.op != Op::get) {
      expect(",");
      i.operand = local_source(LocationKind::word);
    }
    if (i.op == Op::remote_cas) {
      expect(",");
      i.operand2 = local_source(LocationKind::word);
    }
    expect(")");
    emit(i);
  }

  void shared_call(const Token& word) {
    Instruction i = make(word.text == "gf" ? Op::gf : Op::bcast, Library::sv);
    if (i.op == Op::bcast) {
      i.location = location_argument(LocationKind::shared, "a shared location");
      expect(",");
    }
    i.nodes = node_set();
    expect(")");
    if (i.op == Op::bcast) i.work_id = optional_work_id();
    emit(i);
  }

  void ring_call(const Token& word, int target) {
    const bool submit = word.text == "submit";
    Instruction i = make(submit ? Op::submit : Op::receive, Library::rbl);
    const Token& name = peek();
    i.object = object_argument(program_.ringbuffers, "a ring buffer");
    const RingBuffer& ring = at(program_.ringbuffers, i.object);
    require_participant(name, submit ? std::vector<int>{ring.writer} : ring.readers,
                        submit ? "the ring buffer's writer" : "a reader of the ring buffer");
    if (submit) {
      expect(",");
      i.expr = peek().is("[") ? tuple_literal() : expression();
    }
    expect(")");
    i.target = target_or_temporary(target);
    emit(i);
  }

  void tuple_call(const Token& word, int target) {
    Instruction i = make(word.text == "write" ? Op::tuple_write : Op::tuple_read, Library::msw);
    const Token& name = peek();
    i.location = local(name, location_argument(LocationKind::tuple, "a location on the thread's node"));
    if (i.op == Op::tuple_write) {
      expect(",");
      const Token& literal = peek();
      i.expr = tuple_literal();
      const Value v = at(program_.exprs, i.expr).constant;
      const int length = len(program_.tuples[static_cast<std::size_t>(v - kFirstTuple)]);
      const int wanted = at(program_.locations, i.location).tuple_size;
      if (length != wanted)
        fail(literal, "a tuple of " + std::to_string(wanted) + " elements",
             " with " + std::to_string(length) + " elements");
    }
    expect(")");
    if (i.op == Op::tuple_read) i.target = target_or_temporary(target);
    emit(i);
  }

  /// A wait belongs to the library whose operation of this thread bears its work identifier.
  void assign_waits() {
    for (Instruction& w : self_.code) {
      if (w.op != Op::wait) continue;
      for (const Instruction& i : self_.code) {
        const bool names_it = i.work_id == w.work_id && (i.op == Op::bcast || i.op == Op::put || i.op == Op::get);
        if (names_it && (i.library == Library::sv || (i.library == Library::msw && w.library == Library::rdmawait)))
          w.library = i.library;
      }
    }
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
  bool closed_block_ = false;
};

}  // namespace

std::vector<std::string> assigned_registers(const Program& program, const std::vector<Token>& tokens) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& t = tokens[i];
    const bool starts =
        i == 0 || tokens[i - 1].kind == TokenKind::separator || tokens[i - 1].is("{") || tokens[i - 1].is("}");
    if (!starts || t.kind != TokenKind::identifier || !tokens[i + 1].is("=")) continue;
    if (find_location(program, t.text) == kNone && std::find(names.begin(), names.end(), t.text) == names.end())
      names.push_back(t.text);
  }
  return names;
}

void parse_statements(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens) {
  StatementParser(context, thread, code, tokens).run();
}

}  // namespace loco::model::litmus
