#include "loco_sim/loco/mem_ref.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/ack_key.hpp"
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

void block_pool::give_back(const Region& block) {
  if (std::uncaught_exceptions() == 0 && in_flight(block))
    too_early_ = true;  // and nobody gets the block: what is in flight may still read it, or write to it
  else
    free_[block.size].push_back(block);
}

bool block_pool::in_flight(const Region& block) const {
  return std::ranges::any_of(keys_, [&](const ack_key* key) { return key->in_flight(block); }) ||
         std::ranges::any_of(unfollowed_, [&](const auto& use) { return use.first - block.base < block.size; });
}

/// Mostly the one that came last.
void block_pool::remove(ack_key& key) {
  for (auto at = keys_.rbegin(); at != keys_.rend(); ++at)
    if (*at == &key) {
      *at = keys_.back();
      return keys_.pop_back();
    }
}

void block_pool::note_fenced(NodeId node) {
  std::erase_if(unfollowed_, [node](const auto& use) { return use.second == node; });
}

void block_pool::refuse_too_early() {
  too_early_ = false;
  throw std::logic_error(
      "a mem_ref was given back while an operation on it was in flight: wait for its ack_key before the mem_ref goes");
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
      block_((pool_->require_none_too_early(), pool_->take(mgr.memory(), bytes))),
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
