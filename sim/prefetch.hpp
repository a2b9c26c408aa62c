// The simulating machine's cache: its lines, and having it fetch memory that is soon to be read, which changes nothing.
#pragma once

#include <algorithm>
#include <cstddef>

namespace loco::sim {

/// Of the simulating machine, bytes: what of a value is read together is best in one.
inline constexpr std::size_t kCacheLine = 64;

/// Always inlined, because a compiler may consider a function that only prefetches to have no effect and drop its
/// calls.
[[gnu::always_inline]] inline void prefetch(const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  for (std::size_t offset = 0; offset < bytes; offset += kCacheLine) __builtin_prefetch(at + offset);
}

/// For work that goes through a long message piece by piece, of which `bytes` end at `from` and `left` more lie behind
/// it: fetches as much again, so far ahead that it is there in time. A short piece is all there is.
[[gnu::always_inline]] inline void prefetch_ahead(const std::byte* from, std::size_t bytes, std::size_t left) {
  constexpr std::size_t kFew = 256;
  constexpr std::size_t kAhead = 1024;
  if (bytes >= kFew && left > kAhead) prefetch(from + kAhead, std::min(bytes, left - kAhead));
}

}  // namespace loco::sim
