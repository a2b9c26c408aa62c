#include "loco_sim/scenario/keys.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <utility>

#include "loco_sim/scenario/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::optional<Quantity> quantity(KeyType type) {
  switch (type) {
    case KeyType::duration:
      return Quantity::duration;
    case KeyType::size:
      return Quantity::size;
    case KeyType::rate:
      return Quantity::rate;
    default:
      return {};
  }
}

std::string range_words(const Key& key) {
  const std::string least = format_number(key.least, key.type);
  if (key.most != kUnbounded) return fmt::format(" from {} to {}", least, format_number(key.most, key.type));
  if (key.type == KeyType::integer) return fmt::format(" from {} to 2^63 - 1", least);
  return key.least == 0 ? std::string() : fmt::format(" of at least {}", least);
}

[[noreturn]] void refuse(const yaml::Node& node, const Key& key, const std::string& hint = {}) {
  throw text::InputError(node.place, key.path, expectation(key), node.description(), hint);
}

std::string checked_choice(const yaml::Node& node, const Key& key) {
  if (node.kind != yaml::Node::Kind::scalar) refuse(node, key);
  if (std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end()) {
    refuse(node, key, text::suggestion(node.text, key.choices));
  }
  return node.text;
}

std::vector<std::string> checked_choices(const yaml::Node& node, const Key& key) {
  std::vector<std::string> words;
  if (node.kind == yaml::Node::Kind::scalar) return {checked_choice(node, key)};
  if (node.kind != yaml::Node::Kind::list) refuse(node, key);
  for (const yaml::Node& item : node.items) {
    std::string word = checked_choice(item, key);
    if (std::find(words.begin(), words.end(), word) != words.end()) {
      throw text::InputError(item.place, key.path, "each entry once", fmt::format("{} again", text::in_quotes(word)));
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::optional<std::int64_t> parsed_number(const yaml::Node& node, KeyType type) {
  if (node.kind != yaml::Node::Kind::scalar) return {};
  // A number in quotes is text, a quantity is text anyhow: JSON has its units in quotes.
  const bool is_plain = type == KeyType::boolean || type == KeyType::integer;
  if (node.quoted && (is_plain || text::parse_integer(node.text))) return {};
  if (type == KeyType::boolean) {
    if (node.text == "true") return 1;
    if (node.text == "false") return 0;
    return {};
  }
  if (type == KeyType::integer) return text::parse_integer(node.text);
  return parse_quantity(node.text, *quantity(type));
}

/// Names of the table one level below `section` ("" or with a dot at its end), in table order.
std::vector<std::string> names_below(std::string_view section, const KeyTable& table) {
  std::vector<std::string> names;
  for (const Key& key : table) {
    if (!std::string_view(key.path).starts_with(section)) continue;
    std::string name = key.path.substr(section.size());
    name = name.substr(0, name.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// The dotted paths of what lies in a value; of a scalar its own.
void add_leaves(const std::string& path, const yaml::Node& value, std::vector<std::string>& out) {
  if (value.kind != yaml::Node::Kind::map || value.entries.empty()) out.push_back(path);
  if (value.kind != yaml::Node::Kind::map) return;
  for (const yaml::Entry& entry : value.entries) add_leaves(path + "." + entry.key, entry.value, out);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// Did somebody mean a key of another level: pcie.generation for hardware.pcie.generation, nodes for topology.nodes?
std::string suggestion_elsewhere(const std::string& path, const yaml::Node& value, const KeyTable& table,
                                 std::span<const std::string> elsewhere) {
  std::vector<std::string> known(elsewhere.begin(), elsewhere.end());
  for (const Key& key : table) known.push_back(key.path);
  std::vector<std::string> leaves;
  add_leaves(path, value, leaves);
  const std::string& wanted = leaves.front();
  const auto meant = [&](const auto& fits) {
    std::string only;
    for (const std::string& key : known) {
      if (!fits(key)) continue;
      if (!only.empty() && only != key) return std::string();  // of several, nobody knows which
      only = key;
    }
    return only.empty() ? only : fmt::format("did you mean \"{}\"?", only);
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

void read_section(const yaml::Node& map, const std::string& section, const KeyTable& table,
                  std::span<const std::string> elsewhere, Settings& out) {
  for (const yaml::Entry& entry : map.entries) {
    const std::string path = section + entry.key;
    const auto key = std::find_if(table.begin(), table.end(), [&](const Key& k) { return k.path == path; });
    if (key != table.end()) {
      if (key->type != KeyType::subtree && key->type != KeyType::list) out[path] = read_value(entry.value, *key);
      continue;
    }
    const std::string below = path + ".";
    const bool is_section =
        std::any_of(table.begin(), table.end(), [&](const Key& k) { return k.path.starts_with(below); });
    if (!is_section) {
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

std::string format_number(std::int64_t number, KeyType type) {
  if (const std::optional<Quantity> q = quantity(type)) return format_quantity(number, *q);
  if (type == KeyType::boolean) return number != 0 ? "true" : "false";
  return fmt::format("{}", number);
}

std::string expectation(const Key& key) {
  switch (key.type) {
    case KeyType::text:
      return key.most == kUnbounded ? "text" : fmt::format("text of {} to {} characters", key.least, key.most);
    case KeyType::integer:
      return "an integer" + range_words(key);
    case KeyType::boolean:
      return "true or false";
    case KeyType::duration:
    case KeyType::size:
    case KeyType::rate:
      return quantity_words(*quantity(key.type)) + range_words(key);
    case KeyType::choice:
      return text::one_of(key.choices);
    case KeyType::choices:
      return fmt::format("a list of {}", fmt::join(key.choices, ", "));
    case KeyType::subtree:
      return "a map";
    case KeyType::list:
      return "a list";
  }
  return {};
}

Value read_value(const yaml::Node& node, const Key& key) {
  Value value;
  value.given = true;
  value.place = node.place;
  switch (key.type) {
    case KeyType::subtree:
    case KeyType::list:
      break;
    case KeyType::choice:
      value.text = checked_choice(node, key);
      break;
    case KeyType::choices:
      value.words = checked_choices(node, key);
      break;
    case KeyType::text: {
      if (node.kind != yaml::Node::Kind::scalar) refuse(node, key);
      const auto length = static_cast<std::int64_t>(node.text.size());
      if (length < key.least || length > key.most) refuse(node, key);
      if (key.file && node.text.find('\0') != std::string::npos)
        throw text::InputError(node.place, key.path, "the name of a file, without NUL", node.description());
      value.text = node.text;
      break;
    }
    default: {
      const std::optional<std::int64_t> number = parsed_number(node, key.type);
      if (!number || (key.type != KeyType::boolean && (*number < key.least || *number > key.most))) refuse(node, key);
      value.number = *number;
    }
  }
  return value;
}

Settings read_settings(const yaml::Node& map, std::string_view prefix, const KeyTable& table,
                       std::span<const std::string> elsewhere) {
  Settings settings;
  if (map.kind != yaml::Node::Kind::map && map.kind != yaml::Node::Kind::null) {
    const std::string section = prefix.empty() ? std::string() : std::string(prefix.substr(0, prefix.size() - 1));
    throw text::InputError(map.place, section, fmt::format("a map of {}", fmt::join(names_below(prefix, table), ", ")),
                           map.description());
  }
  read_section(map, std::string(prefix), table, elsewhere, settings);
  for (const Key& key : table) {
    if (key.fallback.empty() || settings.contains(key.path)) continue;
    Value value = read_value(yaml::parse_override(key.fallback, key.path), key);
    value.given = false;
    value.place = map.place;  // what is wrong with a default is that the map does not say otherwise
    settings.emplace(key.path, std::move(value));
  }
  return settings;
}

}  // namespace loco::scenario
