// Reads litmus documents (docs/litmus-format.md): YAML around a small statement language.
//
// A mistake is a text::InputError whose what() is one line `file:line:column: what was expected, what was found`.
// Parsing has no side effects and keeps no state; work is bounded by the length of the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

struct ParseOptions {
  /// Replaces the documents' own `model`. It must be of the same family (coreRMA or not), since the two give
  /// `get`, `put` and `cas` different meanings.
  std::string model;
  /// Takes why a document is no program of `model`; such a document is left out. Null: it is a mistake as others.
  std::vector<std::string>* left_out = nullptr;
};

/// Every document of the text. `file` is used in error messages only. Throws std::invalid_argument when the options
/// name no model.
[[nodiscard]] std::vector<Program> parse_text(std::string_view text, const std::string& file,
                                              const ParseOptions& options = {});
/// Bytes of a file, at most: more is refused before it is looked at.
inline constexpr std::size_t kFileBytesMax = std::size_t{64} << 20U;
/// Every document of the file; an unreadable file is a text::InputError at 1:1.
[[nodiscard]] std::vector<Program> parse_file(const std::string& path, const ParseOptions& options = {});

}  // namespace loco::model::litmus
