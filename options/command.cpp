#include "options/command.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "options/units.hpp"
#include "text/words.hpp"

namespace loco::options {

namespace {

template <typename T>
std::optional<T> read(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.empty()) return {};
  return value;
}

Type quantity(Kind kind) { return kind == Kind::size ? Type::size : Type::duration; }

/// The number that a text stands for, in the row's range.
std::optional<std::uint64_t> number_in(const Row& row, const std::string& text, std::uint64_t unit) {
  if (row.kind == Kind::choice) {
    const auto found = std::ranges::find(row.choices, text);
    if (found == row.choices.end()) return {};
    return static_cast<std::uint64_t>(found - row.choices.begin());
  }
  std::optional<std::uint64_t> value;
  if (row.kind == Kind::integer) {
    value = read<std::uint64_t>(text);
    if (value && *value > row.most / unit) return {};
    if (value) *value *= unit;
  } else {
    const bool bare = row.kind == Kind::duration && text.find_first_not_of("0123456789.") == std::string::npos;
    value = parse_quantity(bare ? text + "s" : text, quantity(row.kind));
  }
  return value && *value >= row.least && *value <= row.most ? value : std::nullopt;
}

bool is_text(const Row& row, const std::string& text) {
  return row.choices.empty() || std::ranges::find(row.choices, text) != row.choices.end();
}

}  // namespace

bool assign(const Row& row, void* owner, const std::string& text, std::uint64_t unit) {
  const Slot slot = row.slot(owner);
  if (const auto* flag = std::get_if<bool*>(&slot)) {
    const bool known = text == "true" || text == "false";
    if (known) **flag = text == "true";
    return known;
  }
  if (const auto* seconds = std::get_if<double*>(&slot)) {
    const auto value = read<double>(text);
    if (!value || !(*value >= 0)) return false;  // nor NaN, which is no limit at all
    **seconds = *value;
    return true;
  }
  if (const auto* words = std::get_if<std::string*>(&slot)) {
    if (is_text(row, text)) **words = text;
    return is_text(row, text);
  }
  if (const auto* words = std::get_if<std::optional<std::string>*>(&slot)) {
    **words = text;
    return true;
  }
  if (const auto* list = std::get_if<std::vector<std::string>*>(&slot)) {
    if (is_text(row, text)) (*list)->push_back(text);
    return is_text(row, text);
  }
  const auto value = number_in(row, text, unit);
  if (!value) return false;
  if (const auto* number = std::get_if<Number>(&slot))
    number->set(number->member, *value);
  else
    std::get<std::vector<std::uint64_t>*>(slot)->push_back(*value);
  return true;
}

std::string expectation(const Row& row, std::uint64_t unit) {
  switch (row.kind) {
    case Kind::flag:
      return "True or False";
    case Kind::integer:
      return fmt::format("an integer from {} to {}", std::max<std::uint64_t>(row.least / unit, row.least > 0 ? 1 : 0),
                         row.most / unit);
    case Kind::size:
      return fmt::format("{} of at least {}", quantity_words(Type::size),
                         format_quantity(static_cast<std::int64_t>(row.least), Type::size));
    case Kind::duration:
      return "a number of seconds, or a time such as 10ms, above 0";
    case Kind::seconds:
      return "a number of seconds from 0 on";
    default:
      return row.choices.empty() ? "text"
                                 : text::one_of(std::vector<std::string>(row.choices.begin(), row.choices.end()));
  }
}

std::string held(const Row& row, void* owner, std::uint64_t unit) {
  const Slot slot = row.slot(owner);
  if (const auto* flag = std::get_if<bool*>(&slot)) return **flag ? "true" : "false";
  if (const auto* seconds = std::get_if<double*>(&slot)) return fmt::format("{}", **seconds);
  if (const auto* words = std::get_if<std::string*>(&slot)) return **words;
  const auto* number = std::get_if<Number>(&slot);
  const std::optional<std::uint64_t> value = number == nullptr ? std::nullopt : number->get(number->member);
  if (!value || *value < row.least) return {};
  if (row.kind == Kind::choice) return std::string(row.choices[*value]);
  return row.kind == Kind::integer ? fmt::format("{}", *value / unit)
                                   : format_quantity(static_cast<std::int64_t>(*value), quantity(row.kind));
}

}  // namespace loco::options
