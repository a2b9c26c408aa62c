// The parser of expressions of RMA programs (docs/verify.md), and the token functions that the parser of programs uses,
// too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/lexer.hpp"
#include "verify/syntax.hpp"

namespace loco::verify {

/// Reads tokens from the first on. Every mistake is a text::InputError with its place.
class ExpressionParser {
 public:
  /// `tokens` close with one of kind kEnd, which messages call `end`. `file` outlives the parser.
  ExpressionParser(std::vector<Token> tokens, const std::string& file, const char* end)
      : file_(file), tokens_(std::move(tokens)), end_(end) {}

  /// One expression and nothing behind it.
  syntax::Expression only_an_expression();

 protected:
  /// Counts how deep the parser is in its own recursion.
  class Depth {
   public:
    explicit Depth(ExpressionParser& parser);
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser_.depth_; }

   private:
    ExpressionParser& parser_;
  };

  [[nodiscard]] const Token& now() const { return tokens_[index_]; }
  [[nodiscard]] const Token& after(std::size_t distance) const;
  /// How many tokens have been taken.
  [[nodiscard]] std::size_t index() const { return index_; }
  /// The tokens from one to before another, as one would write them.
  [[nodiscard]] std::string text(std::size_t from, std::size_t to) const;

  Token take();
  bool take_if(std::string_view word);
  void need(std::string_view word, std::string_view where = "");
  syntax::Name name(std::string_view what);
  syntax::Number integer(std::string_view what);
  [[noreturn]] void fail(const std::string& expected, const Token& found, const std::vector<std::string>& known = {});

  syntax::Expression expression();

 private:
  /// Operators that bind at least so tightly, from the left.
  void binary(syntax::Expression& into, int least);
  void unary(syntax::Expression& into);
  syntax::Node leaf();
  void standing(syntax::Node& node);

  const std::string& file_;
  std::vector<Token> tokens_;
  const char* end_;
  std::size_t index_ = 0;
  int depth_ = 0;
};

}  // namespace loco::verify
