// The keys of a file as a table: the one source for reading, for defaults and ranges, for the reference page and
// for the JSON schema.
//
// A table is a list of keys with dotted paths; a section such as `fabric.link` exists because keys lie below it.
// Reading a map against a table throws text::InputError at the first entry that does not fit, in the order of the file.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace loco::scenario {

enum class KeyType {
  text,
  integer,
  boolean,
  duration,  ///< picoseconds
  size,      ///< bytes
  rate,      ///< bits per second
  choice,    ///< one of Key::choices
  choices,   ///< a list of distinct ones of Key::choices; one may stand without brackets
  subtree,   ///< anything: whoever made the table reads it
  list,      ///< likewise, a list
};

struct Key {
  std::string path;
  KeyType type = KeyType::text;
  std::string fallback = {};  ///< the default as one would write it; empty: none, or from elsewhere (see `doc`)
  std::int64_t least = 0;     ///< numbers: inclusive range, in base units; texts: length
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> choices = {};
  std::string doc = {};
  bool file = false;  ///< texts: the name of a file, which has no NUL
};

using KeyTable = std::vector<Key>;

/// A key's value, as given or by default. Which member holds it is said by the key's type.
struct Value {
  bool given = false;
  text::Place place;
  std::int64_t number = 0;         ///< integer, boolean (0 or 1), duration, size, rate
  std::string text;                ///< text, choice
  std::vector<std::string> words;  ///< choices
};

/// By dotted path. Keys without a default that were not given are absent.
using Settings = std::map<std::string, Value, std::less<>>;

/// Reads `map` (null counts as an empty map), whose keys have `prefix` in the table ("" or "hardware."). `elsewhere`:
/// dotted paths of keys that belong to other places; a key that is none here is looked for among them, too.
[[nodiscard]] Settings read_settings(const yaml::Node& map, std::string_view prefix, const KeyTable& table,
                                     std::span<const std::string> elsewhere = {});

/// One value against one key.
[[nodiscard]] Value read_value(const yaml::Node& node, const Key& key);

/// `an integer from 1 to 1024`, as in messages and on the reference page.
[[nodiscard]] std::string expectation(const Key& key);

/// A number of the key's type as people write it.
[[nodiscard]] std::string format_number(std::int64_t number, KeyType type);

}  // namespace loco::scenario
