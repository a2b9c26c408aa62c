// Quantities as people write them: 50ns, 4KiB, 25Gbps. Exact: no floating point between the text and the integer.
//
// Durations count picoseconds, sizes bytes (kB = 1000, KiB = 1024), rates bits per second (decimal prefixes).
// Numbers are decimal, with an optional fraction that must come out whole in the base unit. Sizes may go without
// a unit (bytes); durations and rates may not, except 0. Other spellings (usec, 64k, 100G, 100gbps) are taken where
// they mean one thing only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "options/option.hpp"
#include "text/words.hpp"

namespace loco::options {

/// Duration, size or rate: what the functions below take.
[[nodiscard]] bool is_quantity(Type type);

/// The amount in base units, or nothing when the text is not one: not a number, unknown unit, not a whole count of
/// base units, or above 2^63 - 1.
[[nodiscard]] std::optional<std::int64_t> parse_quantity(std::string_view text, Type quantity);

/// The amount in the largest unit that shows it whole: 1500ns, 4KiB, 25Gbps.
[[nodiscard]] std::string format_quantity(std::int64_t amount, Type quantity);

/// What an error message expects: `a time such as 50ns (ps, ns, us, ms, s)`.
[[nodiscard]] std::string quantity_words(Type quantity);

}  // namespace loco::options
