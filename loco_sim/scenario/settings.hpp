// Reads a map of a YAML file against a table of options. Returns valid values, or throws text::InputError at the first
// invalid entry in the order of the file.
//
// A section such as `fabric.link` exists because options lie below it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"
#include "options/rows.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

using options::Option;
using options::Type;
namespace rows = options::rows;

/// Options whose keys lie below a path: "" or "hardware.". Refers to both, which must outlive it.
struct Group {
  std::string_view prefix;
  std::span<const Option> options;
};

/// In the order of messages and pages.
using Table = std::vector<Group>;

/// Calls `visit(path, option)` for each option.
template <typename Visit>
void for_each(const Table& table, const Visit& visit) {
  for (const Group& group : table)
    for (const Option& option : group.options) visit(std::string(group.prefix) + std::string(option.key), option);
}

/// The option at this path, or null.
[[nodiscard]] const Option* find_option(const Table& table, std::string_view path);

/// An option's value, given or default. The option's type says which member holds it.
struct Value {
  bool given = false;
  text::Place place;
  std::int64_t number = 0;         ///< integer, boolean, duration, size, rate, choice
  std::string text;                ///< text, choice
  std::vector<std::string> words;  ///< choices
};

/// Values by dotted path. Options without default that were not given are absent.
using Settings = std::map<std::string, Value, std::less<>>;

/// The value that the document gives for an option, or null.
[[nodiscard]] const Value* given(const Settings& settings, std::string_view key);

/// Whether options that are not given are set to their defaults.
enum class Fill : bool { given_only, defaults };

/// Reads `map`, which lies at `prefix` of the table ("" or "hardware."); null counts as an empty map. `elsewhere` has
/// options of other places, in which an unknown key is searched for the error message.
[[nodiscard]] Settings read_settings(const yaml::Node& map, std::string_view prefix, const Table& table,
                                     Fill fill = Fill::defaults, const Table& elsewhere = {});

/// Reads an item of a list, or a map within it, which lies at `path` and has these keys.
[[nodiscard]] Settings read_item(const yaml::Node& item, const std::string& path, std::span<const Option> keys,
                                 Fill fill = Fill::defaults);

/// Sets a member to the number that the document gives for an option, if it does.
template <typename Member>
void take(const Settings& settings, std::string_view key, Member& member) {
  if (const Value* const value = given(settings, key)) options::detail::assign(member, value->number);
}
template <typename Member>
void take(const Settings& settings, std::string_view key, std::optional<Member>& member) {
  if (const Value* const value = given(settings, key)) options::detail::assign(member.emplace(), value->number);
}

/// Reads one value of an option; `path` is its name in messages.
[[nodiscard]] Value read_value(const yaml::Node& node, const std::string& path, const Option& option);

}  // namespace loco::scenario
