#include "verify/input_error.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace loco::verify {

InputError::InputError(const std::string& file, Place place, const std::string& message)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, place.line, place.column, message)), place_(place) {}

namespace {

/// Letters to insert, leave out or replace to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j - 1] + 1, above + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 40;
  if (word.size() < 2 || word.size() > kLongest) return "";
  const std::string* nearest = nullptr;
  std::size_t least = word.size() <= 2 ? 2 : word.size() / 3 + 2;  // nearer than this
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongest || candidate == word) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest == nullptr ? "" : "; did you mean \"" + *nearest + "\"?";
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string result = "\"";
  for (const char c : word.substr(0, kLongest)) result += c >= ' ' && c <= '~' ? c : '?';
  if (word.size() > kLongest) result += "...";
  return result + "\"";
}

}  // namespace loco::verify
