// What every access to network memory has in common, remote or local.
#pragma once

#include <cstdint>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Are `bytes` bytes from `offset` on whole words inside of `size` bytes, which are rounded up to words?
[[nodiscard]] constexpr bool whole_words_inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  const std::uint64_t whole = round_up(size, kWord);
  return offset % kWord == 0 && bytes % kWord == 0 && offset <= whole && bytes <= whole - offset;
}

}  // namespace loco
