// Has the simulating machine's cache fetch memory that is soon to be read. Changes nothing.
#pragma once

#include <cstddef>

namespace loco::sim {

inline void prefetch(const void* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto* at = static_cast<const std::byte*>(from);
  for (std::size_t offset = 0; offset < bytes; offset += kLine) __builtin_prefetch(at + offset);
}

}  // namespace loco::sim
