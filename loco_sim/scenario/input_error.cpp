#include "loco_sim/scenario/input_error.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "trace/shown.hpp"

namespace loco::scenario {

namespace {

constexpr std::size_t kQuotedLengthMax = 60;

std::string message(const Place& place, const std::string& key, const std::string& expected, const std::string& found,
                    const std::string& hint) {
  return fmt::format("{}: {}{}expected {}, found {}{}{}", place.text(), printable(key), key.empty() ? "" : ": ",
                     expected, found, hint.empty() ? "" : "; ", hint);
}

/// Edit distance with insertion, deletion, replacement and swapping of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Place::text() const {
  return line > 0 ? fmt::format("{}:{}:{}", printable(file), line, column) : printable(file);
}

InputError::InputError(Place place, std::string key, std::string expected, std::string found, std::string hint)
    : std::runtime_error(message(place, key, expected, found, hint)),
      place_(std::move(place)),
      key_(std::move(key)),
      expected_(std::move(expected)),
      found_(std::move(found)),
      hint_(std::move(hint)) {}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const std::size_t worst = std::max<std::size_t>(1, word.size() / 3);
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = worst + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > word.size() + worst || word.size() > candidate.size() + worst) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < nearest_distance) {
      nearest = &candidate;
      nearest_distance = distance;
    }
  }
  return nearest == nullptr ? std::string() : fmt::format("did you mean \"{}\"?", *nearest);
}

std::string one_of(std::span<const std::string> words) {
  if (words.size() == 1) return words[0];
  if (words.size() == 2) return fmt::format("{} or {}", words[0], words[1]);
  return fmt::format("one of {}", fmt::join(words, ", "));
}

std::string printable(std::string_view text) { return trace::shown(text); }

std::string shortened(std::string_view text) {
  return printable(text.substr(0, kQuotedLengthMax)) + (text.size() > kQuotedLengthMax ? "..." : "");
}

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", shortened(text)); }

}  // namespace loco::scenario
