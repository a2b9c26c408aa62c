// A YAML document as a tree that knows where each value was written.
//
// Refused with an InputError: text that is not YAML, keys that are not scalars or occur twice, tags, aliases of nothing
// or of an unfinished value, and documents beyond the limits below. Keys keep the order of the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/place.hpp"

namespace loco::yaml {

using text::Place;

inline constexpr std::size_t kFileBytesMax = std::size_t{1} << 20U;  ///< of a text with one document
inline constexpr std::size_t kNodesMax = 100'000;                    ///< in a document, aliases expanded
inline constexpr std::size_t kKeysMax = 1'000;                       ///< in one map
inline constexpr std::size_t kDepthMax = 50;                         ///< levels of lists and maps

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< scalars: as written, without quotes
  bool quoted = false;         ///< scalars: written in quotes, and so text even if it looks like a number
  std::vector<Node> items;     ///< lists
  std::vector<Entry> entries;  ///< maps

  /// The value of a key of a map, or nullptr.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// What an error message shows as found: `"text"`, `[a, b]`, `{a: 1}`, `nothing`; shortened if it is long.
  [[nodiscard]] std::string description() const;
};

struct Entry {
  std::string key;
  Place key_place;
  Node value;
};

/// A node on one line, as in a YAML flow collection.
[[nodiscard]] std::string flow_text(const Node& node);

/// The only document of a text; a null node if there is none. `file` is the text's name in messages.
[[nodiscard]] Node parse_document(std::string_view text, const text::SourceName& file);

/// All documents of a text, of any length.
[[nodiscard]] std::vector<Node> parse_documents(std::string_view text, const text::SourceName& file);

/// Reads and parses a file with one document. A missing or oversized file is an InputError at 1:1.
[[nodiscard]] Node load_document(const std::string& path);

/// Parses the value of an override such as `--set key=[1, 2]`. Every place in it is `source`.
[[nodiscard]] Node parse_override(const std::string& text, const std::string& source);

/// The value at the dotted path, or nullptr.
[[nodiscard]] const Node* find_at(const Node& root, std::string_view dotted_path);

/// Puts `value` at the dotted path, creating maps on the way and replacing what is there.
void set_at(Node& root, std::string_view dotted_path, const Node& value);

}  // namespace loco::yaml
