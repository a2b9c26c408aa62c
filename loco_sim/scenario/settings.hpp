// A map of a YAML file against a table of options: values that are good, or a text::InputError at the first entry that
// is not, in the order of the file.
//
// A section such as `fabric.link` exists because options lie below it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

using options::Option;
using options::Type;

/// Options whose keys lie below a path: "" or "hardware.". Refers to both.
struct Group {
  std::string_view prefix;
  std::span<const Option> options;
};

/// In the order in which messages and pages list them.
using Table = std::vector<Group>;

/// Calls `visit(path, option)` for each of them.
template <typename Visit>
void for_each(const Table& table, const Visit& visit) {
  for (const Group& group : table)
    for (const Option& option : group.options) visit(std::string(group.prefix) + std::string(option.key), option);
}

/// Nullptr when there is none at this path.
[[nodiscard]] const Option* find_option(const Table& table, std::string_view path);

/// An option's value, as given or by default. Which member holds it is said by the option's type.
struct Value {
  bool given = false;
  text::Place place;
  std::int64_t number = 0;         ///< integer, boolean, duration, size, rate, choice
  std::string text;                ///< text, choice
  std::vector<std::string> words;  ///< choices
};

/// By dotted path. Options without a default that were not given are absent.
using Settings = std::map<std::string, Value, std::less<>>;

/// What the document gives for an option, or null.
[[nodiscard]] const Value* given(const Settings& settings, std::string_view key);

/// Are options that are not given set to their defaults?
enum class Fill : bool { given_only, defaults };

/// Reads `map` (null counts as an empty map), which is what lies at `prefix` of the table ("" or "hardware.").
/// `elsewhere`: options of other places; a key that is none here is looked for among them, too.
[[nodiscard]] Settings read_settings(const yaml::Node& map, std::string_view prefix, const Table& table,
                                     Fill fill = Fill::defaults, const Table& elsewhere = {});

/// One value against one option; `path` is what messages call it.
[[nodiscard]] Value read_value(const yaml::Node& node, const std::string& path, const Option& option);

}  // namespace loco::scenario
