#include "verify/expression_parser.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::verify {

namespace {

using text::suggestion;

constexpr int kDepthMax = 256;  ///< of blocks in blocks and of parentheses in parentheses

/// Zeros in front mean nothing; to the library below they would mean octal.
Integer decimal(const std::string& digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return Integer(digits.substr(first));
}

/// The precedence of a binary operator; -1 for any other token.
std::pair<int, Operator> binding(const Token& token) {
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

}  // namespace

ExpressionParser::Depth::Depth(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ > kDepthMax)
    throw text::InputError({parser_.file_, parser_.now().place}, "",
                           fmt::format("at most {} blocks or parentheses in each other", kDepthMax), "more");
}

const Token& ExpressionParser::after(std::size_t distance) const {
  return tokens_[std::min(index_ + distance, tokens_.size() - 1)];
}

Token ExpressionParser::take() { return now().kind == TokenKind::kEnd ? now() : tokens_[index_++]; }

bool ExpressionParser::take_if(std::string_view word) {
  if (!now().is(word)) return false;
  take();
  return true;
}

void ExpressionParser::need(std::string_view word, std::string_view where) {
  if (!take_if(word)) fail(fmt::format("\"{}\"{}", word, where), now(), {std::string(word)});
}

syntax::Name ExpressionParser::name(std::string_view what) {
  if (now().kind != TokenKind::kName) fail(std::string(what), now());
  Token token = take();
  return {std::move(token.text), token.place};
}

syntax::Number ExpressionParser::integer(std::string_view what) {
  const Place place = now().place;
  const bool negative = now().is("-") && after(1).kind == TokenKind::kNumber;
  if (negative) take();
  if (now().kind != TokenKind::kNumber) fail(std::string(what), now());
  const Integer value = decimal(take().text);
  return {negative ? -value : value, place};
}

std::string ExpressionParser::text(std::size_t from, std::size_t to) const {
  std::string result;
  for (std::size_t i = from; i < to; ++i) {
    const std::string& word = tokens_[i].text;
    const bool first = i == from;
    const auto before = [&](std::initializer_list<const char*> words) {
      return !first && std::any_of(words.begin(), words.end(), [&](const char* w) { return tokens_[i - 1].text == w; });
    };
    const bool call = word == "(" && !first &&
                      (tokens_[i - 1].kind == TokenKind::kKeyword ||
                       (tokens_[i - 1].kind == TokenKind::kName && tokens_[i - 1].text == "in"));
    const bool minus =
        before({"-"}) && (i - from == 1 || (tokens_[i - 2].kind == TokenKind::kSymbol && tokens_[i - 2].text != ")"));
    const bool tight = word == ")" || word == "," || word == ";" || word == "@" || word == ":" || call ||
                       before({"(", "!", "@"}) || minus;
    if (!first && !tight) result += ' ';
    result += word;
  }
  return result;
}

syntax::Expression ExpressionParser::only_an_expression() {
  syntax::Expression result = expression();
  if (now().kind != TokenKind::kEnd) fail(fmt::format("an operator or {}", end_), now());
  return result;
}

syntax::Expression ExpressionParser::expression() {
  syntax::Expression result;
  const std::size_t from = index_;
  binary(result, 0);
  result.text = text(from, index_);
  return result;
}

void ExpressionParser::binary(syntax::Expression& into, int least) {
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

void ExpressionParser::unary(syntax::Expression& into) {
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

syntax::Node ExpressionParser::leaf() {
  syntax::Node node;
  if (now().kind == TokenKind::kNumber) {
    node.literal = decimal(take().text);
  } else if (now().kind == TokenKind::kName && now().text == "in" && after(1).is("(")) {
    node.op = Operator::kIn;
    standing(node);
  } else if (now().kind == TokenKind::kName) {
    if (after(1).is("(")) fail("an integer, a variable or \"(\"", now(), keywords());
    node.op = Operator::kLocal;
    node.name = name("a variable");
    if (take_if("@")) node.process = integer("the number of a process");
  } else if (now().is("at")) {
    node.op = Operator::kAt;
    standing(node);
  } else {
    fail("an integer, a variable or \"(\"", now());
  }
  return node;
}

/// `at(pid, LABEL)` and `in(pid, LABEL)`.
void ExpressionParser::standing(syntax::Node& node) {
  take();
  need("(");
  node.process = integer("the number of a process");
  need(",");
  node.name = name("a label");
  need(")");
}

void ExpressionParser::fail(const std::string& expected, const Token& found, const std::vector<std::string>& known) {
  const std::string hint = found.kind == TokenKind::kName ? suggestion(found.text, known) : "";
  const std::string what = found.kind == TokenKind::kEnd ? end_ : describe(found);
  throw text::InputError({file_, found.place}, "", expected, what, hint);
}

}  // namespace loco::verify
