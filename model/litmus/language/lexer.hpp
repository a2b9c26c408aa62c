// Tokens of the statement language of litmus documents (docs/litmus-format.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/litmus/language/text.hpp"

namespace loco::model::litmus {

enum class TokenKind : std::uint8_t { identifier, number, symbol, separator, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  ///< as written; "" for the end
  Value number = 0;  ///< of a number
  text::Mark at;
  std::size_t begin = 0;  ///< offset of the first character in the code
  std::size_t end = 0;

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == TokenKind::identifier && text == word; }
};

/// The tokens of one thread's code, closed by an `end` token. Line breaks and `;` separate statements, except
/// inside parentheses and brackets; `#` starts a comment. Throws text::InputError naming `file`.
[[nodiscard]] std::vector<Token> tokenize(std::string_view code, const std::vector<text::Mark>& positions,
                                          const std::string& file);

/// The token as error messages name it.
[[nodiscard]] std::string describe(const Token& token);

}  // namespace loco::model::litmus
