// Has the simulating machine's cache fetch memory that is soon to be read. Changes nothing.
#pragma once

#include <cstddef>

namespace loco::sim {

/// Always inlined: a compiler may take a function that only does this for one that does nothing, and drop its calls.
[[gnu::always_inline]] inline void prefetch(const void* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto* at = static_cast<const std::byte*>(from);
  for (std::size_t offset = 0; offset < bytes; offset += kLine) __builtin_prefetch(at + offset);
}

}  // namespace loco::sim
