// Tokens of RMA programs (docs/verify.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/program.hpp"

namespace loco::verify {

enum class TokenKind : std::uint8_t { kName, kKeyword, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  ///< as written; empty at the end
  Place place;

  [[nodiscard]] bool is(std::string_view word) const {
    return (kind == TokenKind::kSymbol || kind == TokenKind::kKeyword) && text == word;
  }
};

/// The words that no variable or label may have as its name.
[[nodiscard]] const std::vector<std::string>& keywords();

/// All tokens, closed by one of kind kEnd. Throws InputError.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, const std::string& file);

/// The token as error messages name it.
[[nodiscard]] std::string describe(const Token& token);

}  // namespace loco::verify
