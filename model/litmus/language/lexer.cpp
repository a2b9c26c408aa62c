#include "model/litmus/language/lexer.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>

#include "model/litmus/language/parser.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

bool is_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_inner(char c) { return is_start(c) || is_digit(c) || c == '\''; }

std::size_t symbol_length(std::string_view rest) {
  constexpr std::array<std::string_view, 6> kTwo = {"==", "!=", "<=", ">=", "&&", "||"};
  for (const std::string_view two : kTwo)
    if (rest.substr(0, 2) == two) return 2;
  return std::string_view("()[]{},=<>+-*!").find(rest[0]) != std::string_view::npos ? 1 : 0;
}

}  // namespace

std::vector<Token> tokenize(std::string_view code, const std::vector<text::Mark>& positions, const std::string& file) {
  std::vector<Token> tokens;
  int depth = 0;  // of parentheses and brackets
  std::size_t i = 0;
  const auto push = [&](TokenKind kind, std::size_t length) -> Token& {
    Token t{kind, std::string(code.substr(i, length)), 0, positions[i], i, i + length};
    tokens.push_back(std::move(t));
    i += length;
    return tokens.back();
  };
  while (i < code.size()) {
    const char c = code[i];
    if (c == '#') {
      while (i < code.size() && code[i] != '\n') ++i;
    } else if (c == '\n' || c == ';') {
      if (c == ';' || depth == 0)
        push(TokenKind::separator, 1);
      else
        ++i;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (is_start(c)) {
      std::size_t end = i;
      while (end < code.size() && is_inner(code[end])) ++end;
      push(TokenKind::identifier, end - i);
    } else if (is_digit(c)) {
      std::size_t end = i;
      while (end < code.size() && is_inner(code[end])) ++end;
      Token& t = push(TokenKind::number, end - i);
      const char* last = t.text.data() + t.text.size();
      const auto [stop, error] = std::from_chars(t.text.data(), last, t.number);
      if (stop != last || error != std::errc{} || t.number > kValueMax)
        throw text::InputError({file, t.at}, "", "a decimal integer of at most 2^61", text::in_quotes(t.text));
    } else if (const std::size_t length = symbol_length(code.substr(i)); length > 0) {
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && depth > 0) --depth;
      push(TokenKind::symbol, length);
    } else {
      throw text::InputError({file, positions[i]}, "", "a statement", text::in_quotes(code.substr(i, 1)));
    }
  }
  push(TokenKind::end, 0);
  return tokens;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::separator:
      return token.text == ";" ? "';'" : "the end of the line";
    case TokenKind::end:
      return "the end of the code";
    default:
      return text::in_quotes(token.text);
  }
}

}  // namespace loco::model::litmus
