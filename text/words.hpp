// Words in messages: quoted, listed, or the one that somebody meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace loco::text {

/// `did you mean "X"?` with the known word nearest to `word`, or nothing when none is near: at most a third of the
/// letters inserted, left out, replaced or swapped with a neighbour, and one in a word of two to five. Upper and lower
/// case are alike.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> known);

/// `; HINT` for the end of a message, or nothing.
[[nodiscard]] std::string as_clause(const std::string& hint);

/// `1 thing`, `2 things`.
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view thing);

/// `a`, `a or b`, `one of a, b, c`.
[[nodiscard]] std::string one_of(std::span<const std::string> words);

/// `text` on one line, in UTF-8: control characters and bytes that are no UTF-8 escaped (shown.hpp).
[[nodiscard]] std::string printable(std::string_view text);

/// The same, cut where it is long.
[[nodiscard]] std::string shortened(std::string_view text);

/// The same in double quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// `text` in a page: `<`, `>` and `&` as entities, control characters but the end of a line as `?`.
[[nodiscard]] std::string in_html(std::string_view text);

/// An optionally signed decimal integer that fits, and nothing else.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace loco::text
