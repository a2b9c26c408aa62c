#include "loco_sim/loco/mem_ref.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/manager.hpp"

namespace loco {

Region block_pool::take(network_memory& memory, std::uint64_t bytes) {
  network_memory::require_possible(bytes);
  const std::uint64_t size = std::bit_ceil(std::max(bytes, kSmallest));
  std::vector<Region>& free = free_[size];
  if (free.empty()) return memory.allocate(size);
  const Region block = free.back();
  free.pop_back();
  return block;
}

bool block_pool::is_free(Address address) const {
  for (const auto& [size, blocks] : free_)
    for (const Region& block : blocks)
      if (address >= block.base && address - block.base < size) return true;
  return false;
}

mem_ref::mem_ref(manager& mgr, std::uint64_t bytes)
    : transport_(mgr.transport()),
      pool_(mgr.blocks()),
      block_(pool_->take(mgr.memory(), bytes)),
      size_(bytes),
      direct_(transport_.direct(block_.base, block_.size)) {}

mem_ref::~mem_ref() {
  if (pool_) pool_->give_back(block_);
}

void mem_ref::require_here() const {
  if (!pool_) throw std::logic_error("a mem_ref is used after it was moved from");
}

void mem_ref::refuse(std::uint64_t offset, std::uint64_t bytes) const {
  throw size_error("an access of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                   " of a mem_ref of " + std::to_string(size_) + " bytes: expected whole words inside of it");
}

void mem_ref::load_bytes(std::span<std::byte> out) {
  require_inside(0, out.size());
  if (direct_ != nullptr) return direct::load_bytes(direct_, out);
  transport_.load_bytes(block_.base, out);
}

void mem_ref::store_bytes(std::span<const std::byte> in) {
  require_inside(0, in.size());
  if (direct_ != nullptr) return direct::store_bytes(direct_, in);
  transport_.store_bytes(block_.base, in);
}

}  // namespace loco
