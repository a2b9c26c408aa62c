#include "model/litmus/language/text.hpp"

#include <algorithm>
#include <cstddef>

namespace loco::model::litmus {

SourceText::SourceText(std::string_view text) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    std::string_view l = text.substr(begin, end - begin);
    if (!l.empty() && l.back() == '\r') l.remove_suffix(1);
    lines_.push_back(l);
    begin = end + 1;
  }
}

std::string_view SourceText::line(int number) const {
  return number >= 1 && number <= len(lines_) ? at(lines_, number - 1) : std::string_view{};
}

std::string_view SourceText::from(text::Mark at) const {
  const std::string_view l = line(at.line);
  return l.substr(std::min(static_cast<std::size_t>(at.column - 1), l.size()));
}

std::vector<text::Mark> SourceText::positions(text::Mark start, std::string_view decoded) const {
  const std::string_view l = line(start.line);
  auto column = static_cast<std::size_t>(start.column - 1);
  while (column < l.size() && (l[column] == '&' || l[column] == '!')) {  // an anchor, a tag
    column = std::min(l.find_first_not_of(' ', std::min(l.find(' ', column), l.size())), l.size());
  }
  start.column = static_cast<int>(column) + 1;
  const char first = column < l.size() ? l[column] : '\0';
  if (first == '|') return literal_positions(start, decoded);
  return first == '>' ? folded_positions(start, decoded) : flow_positions(start, decoded);
}

std::size_t SourceText::indent_below(int number) const {
  for (int i = number + 1; i <= len(lines_); ++i) {
    const std::size_t content = line(i).find_first_not_of(' ');
    if (content != std::string_view::npos) return content;
  }
  return 0;
}

std::vector<text::Mark> SourceText::literal_positions(text::Mark start, std::string_view decoded) const {
  int number = start.line + 1;
  const std::size_t indent = indent_below(start.line);
  std::vector<text::Mark> result;
  result.reserve(decoded.size() + 1);
  text::Mark p{number, static_cast<int>(indent) + 1};
  for (const char c : decoded) {
    result.push_back(p);
    if (c == '\n')
      p = {++number, static_cast<int>(indent) + 1};
    else
      ++p.column;
  }
  result.push_back(p);
  return result;
}

std::vector<text::Mark> SourceText::folded_positions(text::Mark start, std::string_view decoded) const {
  const std::size_t indent = indent_below(start.line);
  int number = start.line;
  std::size_t column = 0;
  const auto next_line = [&] {  // the next one that holds some of the text: a line break more or less is folded away
    do ++number;
    while (number < len(lines_) && line(number).size() <= indent);
    column = indent;
  };
  next_line();
  std::vector<text::Mark> result;
  result.reserve(decoded.size() + 1);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    result.push_back({number, static_cast<int>(column) + 1});
    if (column < line(number).size())
      column += decoded[i] == '\n' ? 0U : 1U;  // lines without text at the head of the scalar are above
    else if (decoded[i] == ' ' || i + 1 == decoded.size() || decoded[i + 1] != '\n')
      next_line();
  }
  result.push_back({number, static_cast<int>(column) + 1});
  return result;
}

std::vector<text::Mark> SourceText::flow_positions(text::Mark start, std::string_view decoded) const {
  std::vector<text::Mark> result;
  result.reserve(decoded.size() + 1);
  int number = start.line;
  auto column = static_cast<std::size_t>(start.column - 1);
  const std::string_view first = line(number);
  const char quote = column < first.size() && (first[column] == '"' || first[column] == '\'') ? first[column] : '\0';
  if (quote != '\0') ++column;
  for (const char c : decoded) {
    std::string_view l = line(number);
    // A folded line break: white space up to the end of the line stands for one character.
    if (c == ' ' || c == '\n') {
      const std::size_t rest = std::min(l.find_first_not_of(" \t", column), l.size());
      if (rest == l.size() && number < len(lines_)) {
        result.push_back({number, static_cast<int>(column) + 1});
        ++number;
        l = line(number);
        column = std::min(l.find_first_not_of(" \t"), l.size());
        continue;
      }
    }
    result.push_back({number, static_cast<int>(column) + 1});
    const char raw = column < l.size() ? l[column] : '\0';
    const char next = column + 1 < l.size() ? l[column + 1] : '\0';
    const bool escaped = (quote == '"' && raw == '\\') || (quote == '\'' && raw == '\'');
    column += !escaped ? 1 : next == 'x' ? 4 : next == 'u' ? 6 : next == 'U' ? 10 : 2;
  }
  result.push_back({number, static_cast<int>(column) + 1});
  return result;
}

}  // namespace loco::model::litmus
