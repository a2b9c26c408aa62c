#include "loco_sim/loco/network_memory.hpp"

#include <algorithm>
#include <string>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kCacheLine = 64;
}  // namespace

void network_memory::require_possible(std::uint64_t size) {
  constexpr std::uint64_t kAddresses = std::uint64_t{1} << 47U;  // of a process on x86-64
  if (size > kAddresses)
    throw size_error("network memory of " + std::to_string(size) + " bytes: more than a process has addresses for");
}

Region network_memory::allocate(std::uint64_t size) {
  require_possible(size);
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
  require_possible(size);
  return transport_.allocate_on_device(std::max(round_up(size, kWord), kWord));
}

}  // namespace loco
