// A YAML document as a tree that knows where each value was written, and whether a key occurs twice.
//
// Bounds: files of at most kFileBytesMax, kNodesMax nodes after aliases are expanded, kDepthMax levels. Throws
// InputError. Order of keys is the order in the file. Columns count bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/scenario/input_error.hpp"

namespace loco::scenario {

inline constexpr std::size_t kFileBytesMax = std::size_t{1} << 20U;
inline constexpr std::size_t kNodesMax = 100'000;
inline constexpr std::size_t kKeysMax = 1'000;  ///< in one map
inline constexpr std::size_t kDepthMax = 32;

struct DocumentEntry;

struct DocumentNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;                    ///< scalars: as written, without quotes
  bool quoted = false;                 ///< scalars: written in quotes, so text even when it looks like a number
  std::vector<DocumentNode> items;     ///< lists
  std::vector<DocumentEntry> entries;  ///< maps

  /// The value of a key of a map, or nullptr.
  [[nodiscard]] const DocumentNode* find(std::string_view key) const;
  [[nodiscard]] DocumentNode* find(std::string_view key);
  /// What an error message says was found: `"text"`, `[a, b]`, `{a: 1}`, `nothing`; cut when it is long.
  [[nodiscard]] std::string description() const;
};

struct DocumentEntry {
  std::string key;
  Place key_place;
  DocumentNode value;
};

/// A node on one line, as in a YAML flow collection.
[[nodiscard]] std::string flow_text(const DocumentNode& node);

/// Parses one document. `file` is what messages call the text.
[[nodiscard]] DocumentNode parse_document(const std::string& text, const std::string& file);

/// The text of a file, and of a larger one so much that parse_document refuses it. A missing file is an InputError at
/// 1:1.
[[nodiscard]] std::string read_document(const std::string& path);

/// Reads and parses a file. A missing or oversized file is an InputError at 1:1.
[[nodiscard]] DocumentNode load_document(const std::string& path);

/// Parses the value of an override such as `--set key=[1, 2]`: every place in it is `source`.
[[nodiscard]] DocumentNode parse_override(const std::string& text, const std::string& source);

/// What is at the dotted path, or nullptr.
[[nodiscard]] const DocumentNode* find_at(const DocumentNode& root, std::string_view dotted_path);

/// Puts `value` at the dotted path, making maps on the way and replacing what is there.
void set_at(DocumentNode& root, std::string_view dotted_path, const DocumentNode& value);

}  // namespace loco::scenario
