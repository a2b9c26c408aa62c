#include "loco_sim/loco/network_memory.hpp"

#include <algorithm>

namespace loco {

namespace {
constexpr std::uint64_t kCacheLine = 64;
}  // namespace

Region network_memory::allocate(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t rounded = std::max(round_up(size, kWord), kWord);
  const std::uint64_t start = round_up(used_, rounded >= kCacheLine ? kCacheLine : kWord);
  if (start + rounded > chunk_.size) {
    chunk_ = transport_.allocate(std::max(chunk_bytes_, rounded));
    used_ = rounded;
    return {chunk_.node, chunk_.base, rounded, chunk_.rkey};
  }
  used_ = start + rounded;
  return {chunk_.node, chunk_.base + start, rounded, chunk_.rkey};
}

Region network_memory::allocate_on_device(std::uint64_t size) {
  return transport_.allocate_on_device(std::max(round_up(size, kWord), kWord));
}

}  // namespace loco
