// Quantities as users write them: 50ns, 4KiB, 25Gbps. Exact: no floating point between the text and the integer.
//
// Durations are in picoseconds, sizes in bytes (kB = 1000, KiB = 1024), rates in bits per second (decimal prefixes).
// Numbers are decimal, with an optional fraction that must give a whole number of base units. Sizes may omit the unit
// (bytes); durations and rates may not, except for 0. Other spellings (usec, 64k, 100G, 100gbps) are accepted if they
// are unambiguous.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "options/option.hpp"
#include "text/words.hpp"

namespace loco::options {

/// True for a duration, size or rate, which the functions below accept.
[[nodiscard]] bool is_quantity(Type type);

/// The amount in base units; nothing if the text is not a number, has an unknown unit, is not a whole number of base
/// units, or exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::int64_t> parse_quantity(std::string_view text, Type quantity);

/// The amount in the largest unit that gives a whole number: 1500ns, 4KiB, 25Gbps.
[[nodiscard]] std::string format_quantity(std::int64_t amount, Type quantity);

/// What an error message expects: `a time such as 50ns (ps, ns, us, ms, s)`.
[[nodiscard]] std::string quantity_words(Type quantity);

}  // namespace loco::options
