// Temporary network memory: inputs and outputs of one-sided operations (LOCO paper, App. C.2).
//
// A mem_ref is a block of registered memory that a thread borrows. Operations read or write it in place, without a
// copy. Blocks come from a pool of the calling thread. Their sizes are powers of two from 64 bytes up, and a freed
// block serves the next mem_ref of its size class. Fresh memory is zero; a reused block keeps its old contents.
// Ownership: a mem_ref belongs to the thread that made it and returns to that thread's pool. Wait for the ack_key of
// every operation on it first. If an operation on it is still in flight when it goes, the block is never reused, and
// the thread's next mem_ref, operation or manager::check() throws std::logic_error. This is not checked while an
// exception unwinds the scope, nor for operations without a key. Debug builds (without NDEBUG) throw it also for an
// access to a moved-from mem_ref, and for an operation on the address of one that has been freed.
// Units: bytes. Accesses are whole, aligned 8-byte words, or go through the array words().
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

  /// The whole block as an array, valid as long as this mem_ref lives and is not moved from.
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
  /// An access beyond the end would reach another block of the pool.
  void require_inside(std::uint64_t offset, std::uint64_t bytes) const {
#ifndef NDEBUG
    require_here();
#endif
    if (!whole_words_inside(offset, bytes, block_.size)) refuse(offset, bytes);
  }
  /// Throws std::logic_error for a moved-from mem_ref.
  void require_here() const;
  [[noreturn]] void refuse(std::uint64_t offset, std::uint64_t bytes) const;

  Transport& transport_;
  std::shared_ptr<block_pool> pool_;  // shared, because a run that is broken off may destroy the manager first
  Region block_;
  std::uint64_t size_;
  std::uint64_t* direct_;  ///< null: the transport does not expose its memory
};

}  // namespace loco
