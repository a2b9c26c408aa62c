// A FIFO that takes one pointer while it is empty, for millions of queues of which few have elements.
//
// Storage comes from a stock that all rings of a thread and element type share, last in first out: the next block to be
// used is still in the processor's cache, and in steady state nothing is allocated. A value; element 0 is the oldest. A
// ring may be destroyed by another thread than the one that filled it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/prefetch.hpp"

namespace loco::sim {

template <class T>
class SparseRing {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SparseRing() = default;
  SparseRing(const SparseRing& other) { *this = other; }
  SparseRing(SparseRing&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SparseRing& operator=(const SparseRing& other) {
    if (this == &other) return *this;
    clear();
    if (other.block_ == nullptr) return *this;
    block_ = stock().take(other.block_->capacity);
    for (std::size_t i = 0; i < other.size(); ++i) new (place(i)) T(other[i]);
    block_->size = other.block_->size;
    return *this;
  }
  SparseRing& operator=(SparseRing&& other) noexcept {
    if (this == &other) return *this;
    Stock::free(block_);
    block_ = std::exchange(other.block_, nullptr);
    return *this;
  }
  ~SparseRing() { Stock::free(block_); }

  [[nodiscard]] bool empty() const { return block_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  [[nodiscard]] T& operator[](std::size_t i) { return *place(i); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return *place(i); }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }

  T& push_back(const T& item) {
    if (block_ == nullptr) {
      block_ = stock().take(1);
    } else if (block_->size == block_->capacity) {
      grow();
    }
    return *new (place(block_->size++)) T(item);
  }
  void pop_front() {
    block_->head = (block_->head + 1) & (block_->capacity - 1);
    if (--block_->size == 0) clear();
  }
  void clear() {
    if (block_ != nullptr) stock().give_back(std::exchange(block_, nullptr));
  }
  /// Prefetches the oldest element into the simulating machine's cache. Changes nothing.
  void prefetch() const {
    if (block_ != nullptr) sim::prefetch(block_, kHeader + sizeof(T));
  }

  bool operator==(const SparseRing& other) const {
    if (size() != other.size()) return false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!((*this)[i] == other[i])) return false;
    }
    return true;
  }

 private:
  /// Header in front of the elements.
  struct Block {
    std::uint32_t capacity;  // a power of two
    std::uint32_t head;
    std::uint32_t size;
  };
  static constexpr std::size_t kHeader = (sizeof(Block) + alignof(T) - 1) / alignof(T) * alignof(T);
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && alignof(T) >= alignof(Block));

  /// Unused blocks, by the logarithm of their capacity.
  class Stock {
   public:
    Stock() = default;
    Stock(const Stock&) = delete;
    Stock& operator=(const Stock&) = delete;
    ~Stock() {
      for (const auto& blocks : spare_) {
        for (Block* block : blocks) free(block);
      }
    }
    Block* take(std::uint32_t capacity) {
      std::vector<Block*>& blocks = spare_[class_of(capacity)];
      if (blocks.empty()) return new (::operator new(kHeader + capacity * sizeof(T))) Block{capacity, 0, 0};
      Block* const block = blocks.back();
      blocks.pop_back();
      block->head = block->size = 0;
      return block;
    }
    void give_back(Block* block) {
#ifdef __SANITIZE_ADDRESS__
      free(block);  // so that a reference to a removed element is noticed
#else
      spare_[class_of(block->capacity)].push_back(block);
#endif
    }
    static void free(Block* block) { ::operator delete(block); }

   private:
    static std::size_t class_of(std::uint32_t capacity) { return static_cast<std::size_t>(std::countr_zero(capacity)); }
    std::array<std::vector<Block*>, 32> spare_;
  };
  static Stock& stock() {
    thread_local Stock stock;
    return stock;
  }

  [[nodiscard]] T* place(std::size_t i) const {
    auto* items = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(block_) + kHeader);
    return items + ((block_->head + i) & (block_->capacity - 1U));
  }

  void grow() {
    Block* const smaller = block_;
    Block* const larger = stock().take(2 * smaller->capacity);
    const auto* from = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(smaller) + kHeader);
    auto* to = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(larger) + kHeader);
    for (std::uint32_t i = 0; i < smaller->size; ++i)
      new (to + i) T(from[(smaller->head + i) & (smaller->capacity - 1U)]);
    larger->size = smaller->size;
    block_ = larger;
    stock().give_back(smaller);
  }

  Block* block_ = nullptr;
};

}  // namespace loco::sim
