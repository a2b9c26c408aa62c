#include "verify/parser.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "verify/build.hpp"
#include "verify/lexer.hpp"
#include "verify/syntax.hpp"

namespace loco::verify {

namespace {

using syntax::StatementKind;
using text::suggestion;

constexpr std::size_t kBytesMax = std::size_t{16} << 20U;  ///< of a file: a device has no end
constexpr int kDepthMax = 256;                             ///< of blocks in blocks and of parentheses in parentheses

/// Zeros in front mean nothing; to cpp_int they would mean octal.
Integer decimal(const std::string& digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return Integer(digits.substr(first));
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : Parser(tokenize(text, file), file, "the end of the file") {}
  /// `tokens` close with one of kind kEnd, which messages call `end`.
  Parser(std::vector<Token> tokens, const std::string& file, const char* end)
      : file_(file), tokens_(std::move(tokens)), end_(end) {}

  syntax::File run() {
    syntax::File result;
    if (!now().is("process")) fail("\"process\"", now());
    while (now().is("process")) result.processes.push_back(process());
    if (!now().is("assert"))
      fail(now().kind == TokenKind::kEnd ? "a property: \"assert\"" : "\"process\" or \"assert\"", now());
    while (now().is("assert")) result.properties.push_back(property());
    if (now().kind != TokenKind::kEnd) fail("\"assert\" or the end of the file", now());
    return result;
  }

  syntax::Expression only_an_expression() {
    syntax::Expression result = expression();
    if (now().kind != TokenKind::kEnd) fail(fmt::format("an operator or {}", end_), now());
    return result;
  }

 private:
  /// Counts how deep the parser is in its own recursion.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDepthMax)
        throw text::InputError({parser_.file_, parser_.now().place}, "",
                               fmt::format("at most {} blocks or parentheses in each other", kDepthMax), "more");
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  [[nodiscard]] const Token& now() const { return tokens_[index_]; }
  [[nodiscard]] const Token& after(std::size_t distance) const {
    return tokens_[std::min(index_ + distance, tokens_.size() - 1)];
  }
  Token take() { return now().kind == TokenKind::kEnd ? now() : tokens_[index_++]; }

  [[noreturn]] void fail(const std::string& expected, const Token& found, const std::vector<std::string>& known = {}) {
    const std::string hint = found.kind == TokenKind::kName ? suggestion(found.text, known) : "";
    const std::string what = found.kind == TokenKind::kEnd ? end_ : describe(found);
    throw text::InputError({file_, found.place}, "", expected, what, hint);
  }

  bool take_if(std::string_view word) {
    if (!now().is(word)) return false;
    take();
    return true;
  }

  void need(std::string_view word, std::string_view where = "") {
    if (!take_if(word)) fail(fmt::format("\"{}\"{}", word, where), now(), {std::string(word)});
  }

  syntax::Name name(std::string_view what) {
    if (now().kind != TokenKind::kName) fail(std::string(what), now());
    Token token = take();
    return {std::move(token.text), token.place};
  }

  syntax::Number integer(std::string_view what) {
    const Place place = now().place;
    const bool negative = now().is("-") && after(1).kind == TokenKind::kNumber;
    if (negative) take();
    if (now().kind != TokenKind::kNumber) fail(std::string(what), now());
    const Integer value = decimal(take().text);
    return {negative ? -value : value, place};
  }

  /// The tokens from one to before another, as one would write them.
  [[nodiscard]] std::string text(std::size_t from, std::size_t to) const {
    std::string result;
    for (std::size_t i = from; i < to; ++i) {
      const std::string& word = tokens_[i].text;
      const bool first = i == from;
      const auto before = [&](std::initializer_list<const char*> words) {
        return !first &&
               std::any_of(words.begin(), words.end(), [&](const char* w) { return tokens_[i - 1].text == w; });
      };
      const bool call = word == "(" && !first && tokens_[i - 1].kind == TokenKind::kKeyword;
      const bool minus =
          before({"-"}) && (i - from == 1 || (tokens_[i - 2].kind == TokenKind::kSymbol && tokens_[i - 2].text != ")"));
      const bool tight = word == ")" || word == "," || word == ";" || word == "@" || word == ":" || call ||
                         before({"(", "!", "@"}) || minus;
      if (!first && !tight) result += ' ';
      result += word;
    }
    return result;
  }

  syntax::Process process() {
    syntax::Process result;
    need("process");
    result.id = integer("the number of the process");
    need("{");
    while (!now().is("}")) {
      if (now().is("shared") || now().is("local")) {
        declarations(now().is("shared") ? result.shared : result.locals);
      } else {
        result.body.push_back(statement());
      }
    }
    result.end = take().place;
    return result;
  }

  void declarations(std::vector<syntax::Declaration>& into) {
    const bool shared = take().text == "shared";
    do {
      syntax::Declaration declaration{name(shared ? "the name of a shared variable" : "the name of a local"), 0};
      if (shared) {
        need("=", " and the variable's first value");
        declaration.initial = integer("an integer").value;
      } else if (take_if("=")) {
        declaration.initial = integer("an integer").value;
      }
      into.push_back(std::move(declaration));
    } while (take_if(","));
    need(";");
  }

  std::vector<syntax::Statement> block() {
    std::vector<syntax::Statement> result;
    if (!take_if("{")) {
      result.push_back(statement());
      return result;
    }
    while (!now().is("}")) result.push_back(statement());
    take();
    return result;
  }

  syntax::Statement statement() {
    const Depth depth(*this);
    std::optional<syntax::Name> label;
    if (now().kind == TokenKind::kName && after(1).is(":")) {
      label = name("a label");
      take();
    }
    const Place place = now().place;
    syntax::Statement result;
    if (now().is("if") || now().is("while")) {
      result = structured();
    } else if (now().is("{")) {
      result.kind = StatementKind::kBlock;
      result.body = block();
    } else {
      const std::size_t from = index_;
      result = simple();
      result.text = text(from, index_);
      need(";");
    }
    result.label = std::move(label);
    result.place = place;
    return result;
  }

  syntax::Statement structured() {
    syntax::Statement result;
    result.kind = take().text == "if" ? StatementKind::kIf : StatementKind::kWhile;
    const std::size_t from = index_;
    result.expression = condition();
    result.text = text(from, index_);
    result.body = block();
    if (result.kind == StatementKind::kIf && take_if("else")) result.otherwise = block();
    return result;
  }

  /// `( cond )`; nothing for `*`.
  std::optional<syntax::Expression> condition() {
    need("(");
    if (now().is("*") && after(1).is(")")) {
      take();
      take();
      return std::nullopt;
    }
    syntax::Expression result = expression();
    need(")");
    return result;
  }

  syntax::Statement simple() {
    syntax::Statement result;
    if (now().kind == TokenKind::kName) return assignment();
    const Token word = take();
    if (word.is("skip") || word.is("break")) {
      result.kind = word.is("skip") ? StatementKind::kSkip : StatementKind::kBreak;
    } else if (word.is("goto")) {
      result.kind = StatementKind::kGoto;
      result.names.push_back(name("a label"));
    } else if (word.is("assume") || word.is("assert")) {
      result.kind = word.is("assume") ? StatementKind::kAssume : StatementKind::kAssert;
      result.expression = condition();
    } else if (word.is("load")) {
      result.kind = StatementKind::kLoad;
      result.names.push_back(name("a local"));
      need("=");
      result.names.push_back(name("a shared variable of this process"));
    } else if (word.is("store")) {
      result.kind = StatementKind::kStore;
      result.names.push_back(name("a shared variable of this process"));
      need("=");
      result.expression = expression();
    } else if (word.is("flush")) {
      result.kind = StatementKind::kFlush;
      need("(");
      result.process = integer("the number of a process");
      need(")");
    } else if (word.is("put")) {
      result.kind = StatementKind::kPut;
      remote_arguments(result, 1);
    } else {
      fail("a statement", word);
    }
    return result;
  }

  /// `( Z, pid, ... )` with that many names after the process.
  void remote_arguments(syntax::Statement& into, int more) {
    need("(");
    into.names.push_back(name("the remote variable"));
    need(",");
    into.process = integer("the number of the process where the variable lives");
    for (; more > 0; --more) {
      need(",");
      into.names.push_back(name("a shared variable of this process"));
    }
    need(")");
  }

  syntax::Statement assignment() {
    if (!after(1).is("=")) {
      const TokenKind next = after(1).kind;
      const bool word =
          after(1).is("(") || next == TokenKind::kName || next == TokenKind::kKeyword || next == TokenKind::kNumber;
      if (word) fail("a statement", now(), keywords());
      fail("\"=\" or \":\" after a name", after(1));
    }
    syntax::Statement result;
    result.names.push_back(name("a name"));
    take();
    const Token word = now();
    if (word.kind == TokenKind::kName && after(1).is("("))
      fail("get, rga, cas, choose or an expression", word, keywords());
    if (word.is("get") || word.is("rga") || word.is("cas")) {
      take();
      result.kind = word.is("get") ? StatementKind::kGet : word.is("rga") ? StatementKind::kRga : StatementKind::kCas;
      remote_arguments(result, word.is("get") ? 0 : word.is("rga") ? 1 : 2);
    } else if (take_if("choose")) {
      result.kind = StatementKind::kChoose;
      need("(");
      do result.choices.push_back(integer("an integer").value);
      while (take_if(","));
      need(")");
    } else {
      result.kind = StatementKind::kAssign;
      result.expression = expression();
    }
    return result;
  }

  syntax::Property property() {
    syntax::Property result;
    result.place = take().place;
    if (!now().is("final") && !now().is("always")) fail("\"final\" or \"always\"", now(), {"final", "always"});
    result.kind = take().text == "final" ? PropertyKind::kFinal : PropertyKind::kAlways;
    need("(");
    result.expression = expression();
    need(")");
    need(";");
    return result;
  }

  syntax::Expression expression() {
    syntax::Expression result;
    const std::size_t from = index_;
    binary(result, 0);
    result.text = text(from, index_);
    return result;
  }

  /// How tightly a binary operator binds; -1 for what is none.
  [[nodiscard]] static std::pair<int, Operator> binding(const Token& token) {
    static const std::vector<std::pair<std::string_view, std::pair<int, Operator>>> kBindings = {
        {"||", {0, Operator::kOr}},       {"&&", {1, Operator::kAnd}},          {"==", {2, Operator::kEqual}},
        {"!=", {2, Operator::kNotEqual}}, {"<", {3, Operator::kLess}},          {"<=", {3, Operator::kLessEqual}},
        {">", {3, Operator::kGreater}},   {">=", {3, Operator::kGreaterEqual}}, {"+", {4, Operator::kAdd}},
        {"-", {4, Operator::kSubtract}},  {"*", {5, Operator::kMultiply}}};
    if (token.kind == TokenKind::kSymbol) {
      for (const auto& [symbol, binding] : kBindings) {
        if (token.text == symbol) return binding;
      }
    }
    return {-1, Operator::kOr};
  }

  /// Operators that bind at least so tightly, from the left.
  void binary(syntax::Expression& into, int least) {
    unary(into);
    for (;;) {
      const auto [tightness, op] = binding(now());
      if (tightness < least) return;
      take();
      binary(into, tightness + 1);
      syntax::Node node;
      node.op = op;
      into.nodes.push_back(std::move(node));
    }
  }

  void unary(syntax::Expression& into) {
    const Depth depth(*this);
    if (now().is("-") || now().is("!")) {
      const Operator op = take().text == "-" ? Operator::kNegate : Operator::kNot;
      unary(into);
      syntax::Node node;
      node.op = op;
      into.nodes.push_back(std::move(node));
    } else if (take_if("(")) {
      binary(into, 0);
      need(")");
    } else {
      into.nodes.push_back(leaf());
    }
  }

  syntax::Node leaf() {
    syntax::Node node;
    if (now().kind == TokenKind::kNumber) {
      node.literal = decimal(take().text);
    } else if (now().kind == TokenKind::kName) {
      if (after(1).is("(")) fail("an integer, a variable or \"(\"", now(), keywords());
      node.op = Operator::kLocal;
      node.name = name("a variable");
      if (take_if("@")) node.process = integer("the number of a process");
    } else if (now().is("at")) {
      node.op = Operator::kAt;
      take();
      need("(");
      node.process = integer("the number of a process");
      need(",");
      node.name = name("a label");
      need(")");
    } else {
      fail("an integer, a variable or \"(\"", now());
    }
    return node;
  }

  const std::string& file_;
  std::vector<Token> tokens_;
  const char* end_;
  std::size_t index_ = 0;
  int depth_ = 0;
};

}  // namespace

Program parse(std::string_view text, const std::string& file) { return build(Parser(text, file).run(), file); }

std::vector<Expression> parse_predicates(std::string_view text, const std::string& file, const Program& program) {
  std::vector<Expression> result;
  const std::vector<Token> tokens = tokenize(text, file);
  for (std::size_t from = 0; tokens[from].kind != TokenKind::kEnd;) {
    std::vector<Token> line;
    while (tokens[from].kind != TokenKind::kEnd && (line.empty() || tokens[from].place.line == line.front().place.line))
      line.push_back(tokens[from++]);
    Token end;
    end.place = line.back().place;
    end.place.column += static_cast<int>(line.back().text.size());
    line.push_back(std::move(end));
    result.push_back(build(Parser(std::move(line), file, "the end of the line").only_an_expression(), program, file));
  }
  return result;
}

Program parse_file(const std::string& path) { return parse(text::read_file(path, kBytesMax), path); }

}  // namespace loco::verify
