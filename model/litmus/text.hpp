// Small text helpers of the parser: where a character of a YAML scalar stands in the file, and spelling hints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/program.hpp"

namespace loco::model::litmus {

/// The file's lines, to find the characters of a scalar again after YAML has decoded it.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  /// Position in the file of each character of `decoded`, a scalar that starts at `start` (its anchor or tag,
  /// quote, `|`, `>` or first character), plus one past the end.
  [[nodiscard]] std::vector<SourcePos> positions(SourcePos start, std::string_view decoded) const;

  /// What stands there, up to the end of the line.
  [[nodiscard]] std::string_view from(SourcePos at) const;

 private:
  [[nodiscard]] std::string_view line(int number) const;     ///< from 1; empty outside the file
  [[nodiscard]] std::size_t indent_below(int number) const;  ///< of the block scalar whose `|` or `>` is in that line
  [[nodiscard]] std::vector<SourcePos> literal_positions(SourcePos start, std::string_view decoded) const;
  [[nodiscard]] std::vector<SourcePos> folded_positions(SourcePos start, std::string_view decoded) const;
  [[nodiscard]] std::vector<SourcePos> flow_positions(SourcePos start, std::string_view decoded) const;

  std::vector<std::string_view> lines_;
};

/// `; did you mean "x"?` for the nearest candidate, or nothing when none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// `"word"`, shortened when long, control characters escaped.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace loco::model::litmus
