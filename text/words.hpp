// Words in messages: quoted, listed, or suggested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace loco::text {

/// `did you mean "X"?` with the known word nearest to `word`, or nothing if none is near. Near means at most a third of
/// the letters inserted, omitted, replaced or swapped with a neighbour, and one in a word of two to five. Ignores case.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> known);

/// `; HINT` for the end of a message, or nothing.
[[nodiscard]] std::string as_clause(const std::string& hint);

/// `1 thing`, `2 things`.
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view thing);

/// `a`, `a or b`, `one of a, b, c`.
[[nodiscard]] std::string one_of(std::span<const std::string> words);

/// `text` on one line, in UTF-8, with control characters and invalid UTF-8 escaped (shown.hpp).
[[nodiscard]] std::string printable(std::string_view text);

/// The same, shortened if it is long.
[[nodiscard]] std::string shortened(std::string_view text);

/// The same in double quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// `text` for a page: `<`, `>` and `&` as entities, control characters other than line ends as `?`.
[[nodiscard]] std::string in_html(std::string_view text);

/// A decimal integer with optional sign that fits, and nothing else.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace loco::text
