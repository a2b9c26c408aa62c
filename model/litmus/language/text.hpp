// Where a character of a YAML scalar stands in the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

/// The file's lines, to find the characters of a scalar again after YAML has decoded it.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  /// Position in the file of each character of `decoded`, a scalar that starts at `start` (its anchor or tag,
  /// quote, `|`, `>` or first character), plus one past the end.
  [[nodiscard]] std::vector<text::Mark> positions(text::Mark start, std::string_view decoded) const;

  /// The text from there to the end of the line.
  [[nodiscard]] std::string_view from(text::Mark at) const;

 private:
  [[nodiscard]] std::string_view line(int number) const;     ///< from 1; empty outside the file
  [[nodiscard]] std::size_t indent_below(int number) const;  ///< of the block scalar whose `|` or `>` is in that line
  [[nodiscard]] std::vector<text::Mark> literal_positions(text::Mark start, std::string_view decoded) const;
  [[nodiscard]] std::vector<text::Mark> folded_positions(text::Mark start, std::string_view decoded) const;
  [[nodiscard]] std::vector<text::Mark> flow_positions(text::Mark start, std::string_view decoded) const;

  std::vector<std::string_view> lines_;
};

}  // namespace loco::model::litmus
