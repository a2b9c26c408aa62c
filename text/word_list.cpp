#include "text/word_list.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "text/words.hpp"

namespace loco::text {

std::string unknown_word(std::string_view expected, std::string_view word, std::span<const std::string_view> known) {
  const std::vector<std::string> words(known.begin(), known.end());
  return fmt::format("expected {}, found {}{}", expected, in_quotes(word), as_clause(suggestion(word, words)));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string_view> comma_separated(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

}  // namespace loco::text
