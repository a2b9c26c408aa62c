// Temporary network memory: inputs and outputs of one-sided operations (LOCO paper, App. C.2).
//
// A mem_ref is a block of registered memory that a thread borrows: an operation reads it or writes it in place,
// nothing is copied on the way. Blocks come from a pool of the calling thread, sizes are rounded up to a power of two
// (64 bytes and more), and a block that is given back serves the next mem_ref of that size class. New memory
// starts at zero; a block used before keeps what it held.
// Ownership: a mem_ref belongs to the thread that made it and goes back to its pool. Operations on it must be complete
// before that: wait for their ack_key first. One that goes while the key of an operation on it says that this is in
// flight, or has gone before it was waited for, serves nobody any more, and the thread's next mem_ref, operation or
// manager::check() throws std::logic_error. (Not while an exception ends its scope; and nobody follows operations
// without a key.) Debug builds (without NDEBUG) throw it also for an access to one that was moved from, and for an
// operation on the address of one that has been given back. Units: bytes; accesses are of whole, aligned 8-byte words,
// or through words(), as of an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loco_sim/loco/memory/block_pool.hpp"
#include "loco_sim/loco/memory/bounds.hpp"
#include "loco_sim/loco/memory/local_span.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class local_node;

class mem_ref {
 public:
  mem_ref(local_node& node, std::uint64_t bytes);
  mem_ref(mem_ref&& other) noexcept = default;
  mem_ref& operator=(mem_ref&& other) = delete;
  mem_ref(const mem_ref&) = delete;
  mem_ref& operator=(const mem_ref&) = delete;
  ~mem_ref();

  [[nodiscard]] Address address() const { return block_.base; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// All of it, as long as this lives and is not moved from.
  template <typename T = std::uint64_t>
  [[nodiscard]] local_span<T> words() {
    return {transport_, block_.base, round_up(size_, kWord) / kWord};
  }

  /// The word at a byte offset.
  [[nodiscard]] std::uint64_t load(std::uint64_t offset = 0) {
    require_inside(offset, kWord);
    return direct_ != nullptr ? direct::load(direct_ + offset / kWord) : transport_.load(block_.base + offset);
  }
  void store(std::uint64_t value, std::uint64_t offset = 0) {
    require_inside(offset, kWord);
    if (direct_ != nullptr)
      direct::store(direct_ + offset / kWord, value);
    else
      transport_.store(block_.base + offset, value);
  }
  void load_bytes(std::span<std::byte> out);
  void store_bytes(std::span<const std::byte> in);

 private:
  /// Behind it is another block.
  void require_inside(std::uint64_t offset, std::uint64_t bytes) const {
#ifndef NDEBUG
    require_here();
#endif
    if (!whole_words_inside(offset, bytes, block_.size)) refuse(offset, bytes);
  }
  /// Throws when it was moved from.
  void require_here() const;
  [[noreturn]] void refuse(std::uint64_t offset, std::uint64_t bytes) const;

  Transport& transport_;
  std::shared_ptr<block_pool> pool_;  // shared with the manager, which may be gone when a run is broken off
  Region block_;
  std::uint64_t size_;
  std::uint64_t* direct_;  ///< its words, if the transport shows them
};

}  // namespace loco
