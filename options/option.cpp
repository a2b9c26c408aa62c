#include "options/option.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/units.hpp"

namespace loco::options {

namespace {

std::string range_words(const Option& option) {
  const std::string least = format_number(option.least, option.type);
  if (option.most != kUnbounded) return fmt::format(" from {} to {}", least, format_number(option.most, option.type));
  if (option.type == Type::integer) return fmt::format(" from {} to 2^63 - 1", least);
  return option.least == 0 ? std::string() : fmt::format(" of at least {}", least);
}

std::string one_of(std::span<const std::string_view> names) {
  if (names.size() == 1) return std::string(names[0]);
  if (names.size() == 2) return fmt::format("{} or {}", names[0], names[1]);
  return fmt::format("one of {}", fmt::join(names, ", "));
}

}  // namespace

std::int64_t largest(const Option& option) {
  if (option.type == Type::boolean) return 1;
  return option.type == Type::choice ? static_cast<std::int64_t>(option.choices.size()) - 1 : option.most;
}

bool in_range(const Option& option, std::int64_t number) { return number >= option.least && number <= largest(option); }

std::int64_t choice_number(const Option& option, std::string_view name) {
  return std::ranges::find(option.choices, name) - option.choices.begin();
}

std::int64_t default_number(const Option& option) {
  return option.fallback.is_number() ? option.fallback.number() : choice_number(option, option.fallback.text());
}

std::string default_text(const Option& option) {
  return option.fallback.is_number() ? format_number(option.fallback.number(), option)
                                     : std::string(option.fallback.text());
}

std::string expectation(const Option& option) {
  switch (option.type) {
    case Type::text:
      return option.most == kUnbounded ? "text" : fmt::format("text of {} to {} characters", option.least, option.most);
    case Type::integer:
      return "an integer" + range_words(option);
    case Type::boolean:
      return "true or false";
    case Type::duration:
    case Type::size:
    case Type::rate:
      return quantity_words(option.type) + range_words(option);
    case Type::choice:
      return one_of(option.choices);
    case Type::choices:
      return fmt::format("a list of {}", fmt::join(option.choices, ", "));
    case Type::list:
      return "a list";
    case Type::map:
      return "a map";
  }
  return {};
}

std::string format_number(std::int64_t number, const Option& option) {
  return option.type == Type::choice ? std::string(option.choices[static_cast<std::size_t>(number)])
                                     : format_number(number, option.type);
}

std::string format_number(std::int64_t number, Type type) {
  if (is_quantity(type)) return format_quantity(number, type);
  if (type == Type::boolean) return number != 0 ? "true" : "false";
  return fmt::format("{}", number);
}

}  // namespace loco::options
