#include "model/litmus/language/statements.hpp"

#include <algorithm>
#include <utility>

#include "model/litmus/language/parser.hpp"
#include "model/litmus/language/verbs_statements.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

class StatementParser : VerbsReader {
 public:
  StatementParser(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens)
      : VerbsReader(context, thread, code, tokens) {}

  void run() {
    for (const std::string& name : at(context_.registers, thread_)) self_.registers.push_back({name, false});
    block(false);
    assign_waits();
  }

 private:
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
    terms_ = 0;
    const Token& t = peek();
    if (t.kind != TokenKind::identifier) fail(t, "a statement");
    if (t.text == "if" || t.text == "while") {
      t.text == "if" ? if_statement() : while_statement();
      closed_block_ = true;
      return;
    }
    if (t.text == "break") {
      break_statement();
      finish(first, begin, context_.atomic);
      return;
    }
    const bool single = core_ && (peek(1).is_word("atomic") || peek(1).is_word("nonatomic"));
    const bool polls = peek(1).is(",") || (peek(1).is("=") && peek(2).is_word("poll"));
    if (context_.model == "verbs" && (is_verb(t) || polls))
      verb();
    else if (polls && !core_ && peek(1).is("="))
      poll_statement();
    else if (peek(single ? 2 : 1).is("="))
      assignment();
    else if (is_statement_word(t.text))
      call(kNone);
    else
      fail(t, "a statement", text::suggestion(t.text, statement_words()));
    if (!core_ && peek().is_word("nonatomic")) fail(peek(), "the end of the statement");
    const bool atomic = single_atomicity().value_or(context_.atomic);
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

  /// The word, the condition and the block of an if or while. Returns the branch around the block, whose target is
  /// open.
  int conditional_block() {
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
    return b;
  }

  void if_statement() {
    const Depth depth(*this);
    const int b = conditional_block();
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
  /// `a = poll(2)`: a is the identifier (`as`) of the operation that the poll takes.
  void poll_statement() {
    Instruction i = make(Op::poll);
    i.target = assigned();
    take();
    take();
    expect("(");
    i.node = node_argument();
    expect(")");
    emit(i);
  }
  void while_statement() {
    const text::Mark begin = peek().at;
    const int first = len(self_.code);
    breaks_.emplace_back();
    const int b = conditional_block();
    Instruction jump = make(Op::jump);
    jump.jump = first;
    jump.at = begin;
    jump.text = "while";
    emit(jump);
    at(self_.code, b).jump = len(self_.code);
    for (const int out : breaks_.back()) at(self_.code, out).jump = len(self_.code);
    breaks_.pop_back();
  }
  /// Goes on behind the innermost loop.
  void break_statement() {
    const Token& word = take();
    if (breaks_.empty()) fail(word, "break within a while only");
    breaks_.back().push_back(emit(make(Op::jump)));
  }

  void assignment() {
    const Token& name = take();
    if (is_reserved_word(name.text)) fail(name, "a location or register", "", ", a word of the statements");
    const Token& word = peek();
    const std::optional<bool> atomicity = single_atomicity();
    expect("=");
    const int l = find_location(program_, name.text);
    const int reg = l == kNone ? find_register(name.text) : kNone;
    const bool is_call = peek().kind == TokenKind::identifier && peek(1).is("(");
    if (core_ && is_call) {
      if (l == kNone) fail(name, "a location: coreRMA's remote statements do not write registers");
      core_call(local(name, l), atomicity);
      return;
    }
    if (l == kNone) {
      if (atomicity) fail(word, "'='");
      assign_register(reg, is_call);
      return;
    }
    assign_location(name, l, is_call);
    self_.code.back().single.location = atomicity;
  }

  void assign_register(int reg, bool is_call) {
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
  }

  void assign_location(const Token& name, int l, bool is_call) {
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

  bool closed_block_ = false;
  std::vector<std::vector<int>> breaks_;  ///< of the loops that are open, innermost last: jumps without a target yet
};

}  // namespace

std::vector<std::string> assigned_registers(const Program& program, const std::vector<Token>& tokens) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& t = tokens[i];
    const bool starts =
        i == 0 || tokens[i - 1].kind == TokenKind::separator || tokens[i - 1].is("{") || tokens[i - 1].is("}");
    if (!starts || t.kind != TokenKind::identifier) continue;
    const auto assigned = [&](const Token& name) {
      if (find_location(program, name.text) == kNone && std::find(names.begin(), names.end(), name.text) == names.end())
        names.push_back(name.text);
    };
    const bool two = i + 3 < tokens.size() && tokens[i + 1].is(",") && tokens[i + 3].is("=");  // a, i = poll(c)
    if (two || tokens[i + 1].is("=")) assigned(t);
    if (two && tokens[i + 2].kind == TokenKind::identifier) assigned(tokens[i + 2]);
  }
  return names;
}

void parse_statements(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens) {
  StatementParser(context, thread, code, tokens).run();
}

}  // namespace loco::model::litmus
