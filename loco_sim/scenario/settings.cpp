#include "loco_sim/scenario/settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "options/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

[[noreturn]] void refuse(const yaml::Node& node, const std::string& path, const Option& option,
                         const std::string& hint = {}) {
  const bool number_in_quotes = node.quoted && (option.type == Type::integer || option.type == Type::boolean);
  throw text::InputError(node.place, path, options::expectation(option),
                         (number_in_quotes ? "the text " : "") + node.description(), hint);
}

std::int64_t checked_choice(const yaml::Node& node, const std::string& path, const Option& option) {
  if (node.kind != yaml::Node::Kind::scalar) refuse(node, path, option);
  const std::int64_t number = options::choice_number(option, node.text);
  if (number < static_cast<std::int64_t>(option.choices.size())) return number;
  const std::vector<std::string> names(option.choices.begin(), option.choices.end());
  refuse(node, path, option, text::suggestion(node.text, names));
}

std::vector<std::string> checked_choices(const yaml::Node& node, const std::string& path, const Option& option) {
  std::vector<std::string> words;
  if (node.kind == yaml::Node::Kind::scalar) {
    static_cast<void>(checked_choice(node, path, option));
    return {node.text};
  }
  if (node.kind != yaml::Node::Kind::list) refuse(node, path, option);
  for (const yaml::Node& item : node.items) {
    static_cast<void>(checked_choice(item, path, option));
    if (std::find(words.begin(), words.end(), item.text) != words.end()) {
      throw text::InputError(item.place, path, "each entry once", fmt::format("{} again", text::in_quotes(item.text)));
    }
    words.push_back(item.text);
  }
  return words;
}

std::optional<std::int64_t> parsed_number(const yaml::Node& node, Type type) {
  if (node.kind != yaml::Node::Kind::scalar) return {};
  // A number in quotes is text. A quantity may be in quotes, because JSON needs them for its unit.
  const bool is_plain = type == Type::boolean || type == Type::integer;
  if (node.quoted && (is_plain || text::parse_integer(node.text))) return {};
  if (type == Type::boolean) {
    if (node.text == "true") return 1;
    if (node.text == "false") return 0;
    return {};
  }
  if (type == Type::integer) {
    const bool octal = node.text.size() > 1 && node.text.front() == '0';  // octal in YAML 1.1, decimal in 1.2
    return octal ? std::nullopt : text::parse_integer(node.text);
  }
  return options::parse_quantity(node.text, type);
}

/// Names in the table one level below `section` ("" or with a final dot), in table order.
std::vector<std::string> names_below(std::string_view section, const Table& table) {
  std::vector<std::string> names;
  for_each(table, [&](const std::string& path, const Option&) {
    if (!path.starts_with(section)) return;
    std::string name = path.substr(section.size());
    name = name.substr(0, name.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

bool has_below(const Table& table, std::string_view section) {
  for (const Group& group : table) {
    const bool inside = section.starts_with(group.prefix);
    if (!inside && !group.prefix.starts_with(section)) continue;
    if (!inside && !group.options.empty()) return true;
    const std::string_view rest = section.substr(std::min(group.prefix.size(), section.size()));
    if (std::ranges::any_of(group.options, [&](const Option& o) { return o.key.starts_with(rest); })) return true;
  }
  return false;
}

/// Adds the dotted paths of all scalars in a value.
void add_leaves(const std::string& path, const yaml::Node& value, std::vector<std::string>& out) {
  if (value.kind != yaml::Node::Kind::map || value.entries.empty()) out.push_back(path);
  if (value.kind != yaml::Node::Kind::map) return;
  for (const yaml::Entry& entry : value.entries) add_leaves(path + "." + entry.key, entry.value, out);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// Suggests a key of another level, such as hardware.pcie.generation for pcie.generation or topology.nodes for nodes.
std::string suggestion_elsewhere(const std::string& path, const yaml::Node& value, const Table& table,
                                 const Table& elsewhere) {
  std::vector<std::string> known;
  for (const Table* const one : {&elsewhere, &table})
    for_each(*one, [&](const std::string& key, const Option&) { known.push_back(key); });
  std::vector<std::string> leaves;
  add_leaves(path, value, leaves);
  const std::string& wanted = leaves.front();
  const auto meant = [&](const auto& fits) {
    std::set<std::string> all;
    for (const std::string& key : known)
      if (fits(key)) all.insert(text::in_quotes(key));
    constexpr std::size_t kMost = 3;  // more suggestions would not help
    return all.empty() || all.size() > kMost ? std::string() : fmt::format("did you mean {}?", fmt::join(all, " or "));
  };
  const auto ends_with = [](std::string_view longer, std::string_view shorter) {
    return longer.size() > shorter.size() && longer.ends_with(shorter) &&
           longer[longer.size() - shorter.size() - 1] == '.';
  };
  for (const auto& rule : std::vector<std::function<bool(const std::string&)>>{
           [&](const std::string& key) { return ends_with(key, wanted) || ends_with(wanted, key); },
           [&](const std::string& key) { return ends_with(key, path) || ends_with(path, key); },
           [&](const std::string& key) { return last_part(key) == last_part(wanted); },
           [&](const std::string& key) {
             return key.find("." + std::string(last_part(wanted)) + ".") != std::string::npos;
           }}) {
    if (std::string hint = meant(rule); !hint.empty()) return hint;
  }
  return "";
}

void read_section(const yaml::Node& map, const std::string& section, const Table& table, const Table& elsewhere,
                  Settings& out) {
  for (const yaml::Entry& entry : map.entries) {
    const std::string path = section + entry.key;
    if (const Option* const option = find_option(table, path)) {
      if (option->type != Type::map && option->type != Type::list) out[path] = read_value(entry.value, path, *option);
      continue;
    }
    const std::string below = path + ".";
    if (!has_below(table, below)) {
      const std::vector<std::string> known = names_below(section, table);
      const std::string parent = section.empty() ? section : section.substr(0, section.size() - 1);
      const std::string near = text::suggestion(entry.key, known);
      throw text::InputError(entry.key_place, parent, fmt::format("a known key ({})", fmt::join(known, ", ")),
                             text::in_quotes(entry.key),
                             near.empty() ? suggestion_elsewhere(path, entry.value, table, elsewhere) : near);
    }
    if (entry.value.kind != yaml::Node::Kind::map && entry.value.kind != yaml::Node::Kind::null) {
      throw text::InputError(entry.value.place, path,
                             fmt::format("a map of {}", fmt::join(names_below(below, table), ", ")),
                             entry.value.description());
    }
    read_section(entry.value, below, table, elsewhere, out);
  }
}

}  // namespace

const Option* find_option(const Table& table, std::string_view path) {
  for (const Group& group : table) {
    if (!path.starts_with(group.prefix)) continue;
    const auto found = std::ranges::find(group.options, path.substr(group.prefix.size()), &Option::key);
    if (found != group.options.end()) return &*found;
  }
  return nullptr;
}

Value read_value(const yaml::Node& node, const std::string& path, const Option& option) {
  Value value;
  value.given = true;
  value.place = node.place;
  switch (option.type) {
    case Type::map:
    case Type::list:
      break;
    case Type::choice:
      value.number = checked_choice(node, path, option);
      value.text = node.text;
      break;
    case Type::choices:
      value.words = checked_choices(node, path, option);
      break;
    case Type::text: {
      if (node.kind != yaml::Node::Kind::scalar) refuse(node, path, option);
      if (!options::in_range(option, static_cast<std::int64_t>(node.text.size()))) refuse(node, path, option);
      if (option.file && node.text.find('\0') != std::string::npos)
        throw text::InputError(node.place, path, "the name of a file, without NUL", node.description());
      value.text = node.text;
      break;
    }
    default: {
      const std::optional<std::int64_t> number = parsed_number(node, option.type);
      if (!number || !options::in_range(option, *number)) refuse(node, path, option);
      value.number = *number;
    }
  }
  return value;
}

namespace {

/// An option's default as a value.
Value default_value(const std::string& path, const Option& option) {
  Value value;
  if (option.type == Type::text || option.type == Type::choices) {
    value = read_value(yaml::parse_override(std::string(option.fallback.text()), path), path, option);
    value.given = false;
    return value;
  }
  value.number = options::default_number(option);
  if (option.type == Type::choice) value.text = options::default_text(option);
  return value;
}

}  // namespace

Settings read_settings(const yaml::Node& map, std::string_view prefix, const Table& table, Fill fill,
                       const Table& elsewhere) {
  Settings settings;
  if (map.kind != yaml::Node::Kind::map && map.kind != yaml::Node::Kind::null) {
    const std::string section = prefix.empty() ? std::string() : std::string(prefix.substr(0, prefix.size() - 1));
    throw text::InputError(map.place, section, fmt::format("a map of {}", fmt::join(names_below(prefix, table), ", ")),
                           map.description());
  }
  read_section(map, std::string(prefix), table, elsewhere, settings);
  if (fill == Fill::given_only) return settings;
  for_each(table, [&](const std::string& path, const Option& option) {
    if (option.fallback.none() || option.type == Type::map || option.type == Type::list || settings.contains(path))
      return;
    Value value = default_value(path, option);
    value.place = map.place;  // errors in a default point to the map that does not give the option
    settings.emplace(path, std::move(value));
  });
  return settings;
}

Settings read_item(const yaml::Node& item, const std::string& path, std::span<const Option> keys, Fill fill) {
  const std::string prefix = path + ".";
  return read_settings(item, prefix, {{prefix, keys}}, fill);
}

const Value* given(const Settings& settings, std::string_view key) {
  const auto it = settings.find(key);
  return it != settings.end() && it->second.given ? &it->second : nullptr;
}

}  // namespace loco::scenario
