#include "loco_sim/loco/memory/block_pool.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <stdexcept>

#include "loco_sim/loco/memory/network_memory.hpp"

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
    too_early_ = true;  // the block is lost: the operation in flight may still read it or write to it
  else
    free_[block.size].push_back(block);
}

bool block_pool::in_flight(const Region& block) const {
  return std::ranges::any_of(keys_, [&](const in_flight_record* key) { return key->in_flight(block); }) ||
         std::ranges::any_of(unfollowed_, [&](const auto& use) { return use.first - block.base < block.size; });
}

/// Searches from the back: keys mostly go in the reverse order of their coming.
void block_pool::remove(const in_flight_record& key) {
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

}  // namespace loco
