// What every access to network memory has in common, remote or local, and the sizes of what is there.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Are `bytes` bytes from `offset` on whole words inside of `size` bytes, which are rounded up to words?
[[nodiscard]] constexpr bool whole_words_inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  const std::uint64_t whole = round_up(size, kWord);
  return offset % kWord == 0 && bytes % kWord == 0 && offset <= whole && bytes <= whole - offset;
}

/// Bytes of `count` pieces of `piece` bytes each; more than any memory has where that is no number of 64 bits.
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t count, std::uint64_t piece) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return count > kMost / piece ? kMost : count * piece;
}

/// What to throw for a value of another number of words. `has`: "'v' has values".
[[nodiscard]] inline size_error other_words(const std::string& has, std::uint64_t expected, std::uint64_t found) {
  return size_error(has + " of " + std::to_string(expected) + " word(s), found one of " + std::to_string(found));
}

}  // namespace loco
