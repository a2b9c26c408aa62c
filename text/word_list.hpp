// Lists of words that people give, such as `--statements read,write`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loco::text {

/// Without the spaces around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The parts between commas, trimmed; of an empty text one, which is empty.
[[nodiscard]] std::vector<std::string_view> comma_separated(std::string_view text);

/// `expected EXPECTED, found "WORD"`, with a suggestion (words.hpp).
[[nodiscard]] std::string unknown_word(std::string_view expected, std::string_view word,
                                       std::span<const std::string_view> known);

}  // namespace loco::text
