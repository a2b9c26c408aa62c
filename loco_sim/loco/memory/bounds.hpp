// Bounds checks shared by all accesses to network memory, remote and local.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

/// True if the `bytes` bytes from `offset` on are whole words that lie inside `size` bytes, rounded up to words.
[[nodiscard]] constexpr bool whole_words_inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  const std::uint64_t whole = round_up(size, kWord);
  return offset % kWord == 0 && bytes % kWord == 0 && offset <= whole && bytes <= whole - offset;
}

/// Bytes of `count` pieces of `piece` bytes each. An overflow gives the greatest number, which no memory can satisfy.
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t count, std::uint64_t piece) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return count > kMost / piece ? kMost : count * piece;
}

/// The error for a value with the wrong number of words. `has` begins its text, such as "'v' has values".
[[nodiscard]] inline size_error other_words(const std::string& has, std::uint64_t expected, std::uint64_t found) {
  return size_error(has + " of " + std::to_string(expected) + " word(s), found one of " + std::to_string(found));
}

}  // namespace loco
