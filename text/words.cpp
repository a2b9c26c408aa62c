#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "text/shown.hpp"

namespace loco::text {

namespace {

constexpr std::size_t kQuotedLengthMax = 60;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Ignores case. Edit distance with insertion, deletion, replacement and swapping of neighbours (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

namespace {

/// A word as this project would write it: RDMA_WRITE and IBV_WR_RDMA_WRITE become write, all2all becomes all_to_all,
/// leafs becomes leaves.
std::string usual(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool between = i > 0 && i + 1 < word.size() && std::isalpha(static_cast<unsigned char>(word[i - 1])) != 0 &&
                         std::isalpha(static_cast<unsigned char>(word[i + 1])) != 0;
    if (word[i] == '2' && between)
      out += "_to_";
    else
      out += word[i] == '-' || word[i] == ' ' ? '_' : lower(word[i]);
  }
  for (const std::string_view prefix : {"ibv_wr_", "rdma_"})
    if (out.starts_with(prefix)) out.erase(0, prefix.size());
  if (out.ends_with("fs")) out.replace(out.size() - 2, 2, "ves");
  return out;
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  if (word.size() < 2) return {};  // any other letter is equally near
  const std::string meant = usual(word);
  if (const auto same = std::ranges::find(known, meant, [](const std::string& k) { return usual(k); });
      same != known.end())
    return fmt::format("did you mean \"{}\"?", *same);
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

std::string as_clause(const std::string& hint) { return hint.empty() ? hint : "; " + hint; }

std::string counted(std::uint64_t n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string one_of(std::span<const std::string> words) {
  if (words.size() == 1) return words[0];
  if (words.size() == 2) return fmt::format("{} or {}", words[0], words[1]);
  return fmt::format("one of {}", fmt::join(words, ", "));
}

std::string printable(std::string_view text) { return shown(text); }

std::string shortened(std::string_view text) {
  if (text.size() <= kQuotedLengthMax) return printable(text);
  std::size_t end = kQuotedLengthMax;
  constexpr unsigned kContinues = 0x80;  // the upper two bits of a continuation byte in UTF-8
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == kContinues) --end;
  return printable(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", shortened(text)); }

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += static_cast<unsigned char>(c) < ' ' && c != '\n' ? '?' : c;
  }
  return out;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.empty()) return {};
  return value;
}

}  // namespace loco::text
