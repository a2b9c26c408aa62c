#include "loco_sim/loco/operations/mem_ref.hpp"

#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/local_node.hpp"

namespace loco {

mem_ref::mem_ref(local_node& node, std::uint64_t bytes)
    : transport_(node.transport()),
      pool_(node.blocks()),
      block_((pool_->require_none_too_early(), pool_->take(node.memory(), bytes))),
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
