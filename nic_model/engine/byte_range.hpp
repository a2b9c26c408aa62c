// Bytes from one place to another: of a message, or of a host's memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace loco::nic {

struct ByteRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  ///< behind the last one

  [[nodiscard]] constexpr bool empty() const { return from >= to; }
};

[[nodiscard]] constexpr ByteRange common_part(ByteRange a, ByteRange b) {
  const std::uint64_t from = std::max(a.from, b.from);
  return {from, std::max(from, std::min(a.to, b.to))};
}
/// The least range with the bytes of both.
[[nodiscard]] constexpr ByteRange hull(ByteRange a, ByteRange b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.from, b.from), std::max(a.to, b.to)};
}

}  // namespace loco::nic
