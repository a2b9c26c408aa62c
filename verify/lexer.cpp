#include "verify/lexer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "text/input_error.hpp"
#include "text/shown.hpp"
#include "text/words.hpp"

namespace loco::verify {

using text::in_quotes;

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> kWords = {
      "process", "shared", "local", "load",  "store", "put", "get",  "rga",   "cas",   "flush",  "choose",
      "assume",  "assert", "goto",  "break", "skip",  "if",  "else", "while", "final", "always", "at"};
  return kWords;
}

std::string describe(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the file" : in_quotes(token.text);
}

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (at(kByteOrderMark)) offset_ = kByteOrderMark.size();
    while (skip_space()) tokens.push_back(next());
    tokens.push_back({TokenKind::kEnd, "", place_});
    return tokens;
  }

 private:
  [[nodiscard]] bool at(std::string_view what) const { return text_.substr(offset_, what.size()) == what; }

  void advance(std::size_t characters) {
    for (; characters > 0; --characters, ++offset_) {
      if (text_[offset_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else {
        ++place_.column;
      }
    }
  }

  void skip_comment() {
    const Place start = place_;
    if (!at("/*")) return advance(std::min(text_.find('\n', offset_), text_.size()) - offset_);
    const std::size_t end = text_.find("*/", offset_ + 2);
    if (end == std::string_view::npos)
      throw text::InputError({file_, start}, "", "\"*/\" to close this comment", "none");
    advance(end + 2 - offset_);
  }

  /// Whether anything comes after white space and comments.
  bool skip_space() {
    while (offset_ < text_.size()) {
      if (at("//") || at("#") || at("/*")) {
        skip_comment();
      } else if (std::isspace(static_cast<unsigned char>(text_[offset_])) != 0) {
        advance(1);
      } else {
        return true;
      }
    }
    return false;
  }

  Token take(TokenKind kind, std::size_t length) {
    Token token{kind, std::string(text_.substr(offset_, length)), place_};
    advance(length);
    return token;
  }

  template <typename Accept>
  [[nodiscard]] std::size_t length_of(Accept accept) const {
    std::size_t length = 0;
    while (offset_ + length < text_.size() && accept(text_[offset_ + length])) ++length;
    return length;
  }

  Token number() {
    constexpr std::size_t kDigitsMax = 1000;  // converting digits takes the square of their number
    const Token token = take(TokenKind::kNumber, length_of(is_digit));
    if (token.text.size() > kDigitsMax)
      throw text::InputError({file_, token.place}, "", "an integer of at most 1000 digits", in_quotes(token.text));
    if (offset_ < text_.size() && is_letter(text_[offset_])) {
      const std::size_t more = length_of([](char c) { return is_letter(c) || is_digit(c); });
      throw text::InputError({file_, token.place}, "", "an integer",
                             in_quotes(token.text + std::string(text_.substr(offset_, more))));
    }
    return token;
  }

  Token next() {
    if (is_digit(text_[offset_])) return number();
    if (is_letter(text_[offset_])) {
      Token token = take(TokenKind::kName, length_of([](char c) { return is_letter(c) || is_digit(c); }));
      if (std::find(keywords().begin(), keywords().end(), token.text) != keywords().end())
        token.kind = TokenKind::kKeyword;
      return token;
    }
    static constexpr std::array<std::string_view, 21> kSymbols = {
        "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", ";", ",", ":", "=", "<", ">", "+", "-", "*", "!", "@"};
    for (const std::string_view symbol : kSymbols) {
      if (at(symbol)) return take(TokenKind::kSymbol, symbol.size());
    }
    const std::size_t bytes = text::shown_detail::first_character(text_.substr(offset_)).length;
    throw text::InputError({file_, place_}, "", "a name, an integer or an operator",
                           in_quotes(text_.substr(offset_, std::max<std::size_t>(bytes, 1))));
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t offset_ = 0;
  Place place_{1, 1};
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& file) { return Lexer(text, file).run(); }

}  // namespace loco::verify
