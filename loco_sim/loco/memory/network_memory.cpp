#include "loco_sim/loco/memory/network_memory.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kCacheLine = 64;

std::uint64_t rounded_size(std::uint64_t size) { return std::max(round_up(size, kWord), kWord); }
std::uint64_t unit_of(std::uint64_t rounded) { return rounded >= kCacheLine ? kCacheLine : kWord; }
}  // namespace

void free_ranges::add(const Region& range) {
  auto at = ranges_.insert_or_assign(range.base, range).first;
  const auto joins = [](const Region& low, const Region& high) {
    return low.base + low.size == high.base && low.rkey == high.rkey;
  };
  if (const auto next = std::next(at); next != ranges_.end() && joins(at->second, next->second)) {
    at->second.size += next->second.size;
    ranges_.erase(next);
  }
  if (at == ranges_.begin()) return;
  if (const auto before = std::prev(at); joins(before->second, at->second)) {
    before->second.size += at->second.size;
    ranges_.erase(at);
  }
}

std::optional<Region> free_ranges::take(std::uint64_t size, std::uint64_t unit) {
  for (auto at = ranges_.begin(); at != ranges_.end(); ++at) {
    const Region range = at->second;
    const std::uint64_t skipped = round_up(range.base, unit) - range.base;
    if (range.size < skipped || range.size - skipped < size) continue;
    const Region taken{.node = range.node, .base = range.base + skipped, .size = size, .rkey = range.rkey};
    const Region behind{
        .node = range.node, .base = taken.base + size, .size = range.size - skipped - size, .rkey = range.rkey};
    if (behind.size != 0) ranges_.emplace(behind.base, behind);
    if (skipped == 0)
      ranges_.erase(at);
    else
      at->second.size = skipped;
    return taken;
  }
  return std::nullopt;
}

void network_memory::require_possible(std::uint64_t size) {
  constexpr std::uint64_t kAddresses = std::uint64_t{1} << 47U;  // user addresses of a process on x86-64
  if (size > kAddresses)
    throw size_error("network memory of " + std::to_string(size) + " bytes: more than a process has addresses for");
}

Region network_memory::allocate(std::uint64_t size) {
  require_possible(size);
  const std::uint64_t rounded = rounded_size(size);
  std::optional<Region> used_before;
  {
    const std::lock_guard lock(mutex_);
    used_before = free_.take(rounded, unit_of(rounded));
    const Region fresh = used_before ? Region{} : allocate_fresh(rounded, unit_of(rounded));
    in_use_ += rounded;
    if (!used_before) return fresh;
  }
  transport_.clear(used_before->base, rounded);
  return *used_before;
}

Region network_memory::allocate_fresh(std::uint64_t rounded, std::uint64_t unit) {
  std::uint64_t start = round_up(used_, unit);
  if (start + rounded > chunk_.size) {
    chunk_ = transport_.allocate(std::max(std::min(chunk_bytes_, transport_.registered_at_once()), rounded));
    ++registrations_;
    start = 0;
  }
  used_ = start + rounded;
  return {.node = chunk_.node, .base = chunk_.base + start, .size = rounded, .rkey = chunk_.rkey};
}

network_memory::device_region network_memory::allocate_on_device(std::uint64_t size) {
  require_possible(size);
  const std::uint64_t rounded = rounded_size(size);
  const std::lock_guard lock(mutex_);
  const std::optional<Region> used_before = free_on_device_.take(rounded, kWord);
  const Region region = used_before ? *used_before : transport_.allocate_on_device(rounded);
  if (!used_before) ++registrations_;
  in_use_ += rounded;
  return {region, used_before.has_value()};
}

void network_memory::give_back(Region region, bool device) {
  region.size = rounded_size(region.size);
  region.life = 0;
  const std::lock_guard lock(mutex_);
  in_use_ -= region.size;
  (device ? free_on_device_ : free_).add(region);
}

std::uint64_t network_memory::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::uint32_t network_memory::registrations() const {
  const std::lock_guard lock(mutex_);
  return registrations_;
}

}  // namespace loco
