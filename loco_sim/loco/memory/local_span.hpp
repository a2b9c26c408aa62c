// An array of words in this node's own network memory. It takes the place of the T* that a program has on real
// hardware.
//
// Reading an element is a load-acquire, writing one a store-release, each atomic by itself: plain moves on x86, which
// TSO orders. If the transport exposes its memory (LocalMemory::direct), the span asks for a pointer once and accesses
// are inlined. Otherwise, as in the simulator, each access is a load or a store of the transport: it goes through the
// calling thread's store buffer, and the trace shows it as a plain read or write, not as a call of the object that
// holds the words. Put a memory_fence() between a store and a later load that must not overtake it.
//
// Any thread of the node may use a span. It is copied like a pointer, and like one it must not outlive the mem_ref or
// channel that it points into. There is no +=, which would look atomic and would not be.
// Errors: at() throws std::out_of_range for an index beyond the end. Operator [], load_acquire, store_release and
// subspan throw it in debug builds only and are unchecked with NDEBUG. An access to the NIC's memory throws
// ownership_error. Units: elements of 8 bytes.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Accesses through a pointer from LocalMemory::direct.
namespace direct {
[[nodiscard]] inline std::uint64_t load(std::uint64_t* word) {
  return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
}
inline void store(std::uint64_t* word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}
/// Copy whole words, one after the other.
inline void load_bytes(std::uint64_t* words, std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size() / kWord; ++i) {
    const std::uint64_t value = load(words + i);
    std::memcpy(out.data() + i * kWord, &value, kWord);
  }
}
inline void store_bytes(std::uint64_t* words, std::span<const std::byte> in) {
  for (std::size_t i = 0; i < in.size() / kWord; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, in.data() + i * kWord, kWord);
    store(words + i, value);
  }
}
}  // namespace direct

/// Throws std::out_of_range: "element 9 of a local_span of 8".
[[noreturn]] void refuse_element(std::size_t i, std::size_t size);

/// T is trivially copyable and has 8 bytes. A const T makes the span read-only.
template <typename T>
class local_span {
  using Value = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) == kWord, "an element is a word");

 public:
  /// A proxy for an element: converting it to a value loads the word, assigning to it stores one.
  class reference {
   public:
    reference(const reference&) = default;
    operator Value() const { return span_.read(i_); }  // NOLINT(google-explicit-constructor): it stands for one
    const reference& operator=(const Value& value) const requires(!std::is_const_v<T>) {
      span_.write(i_, value);
      return *this;
    }
    /// Copies the value, as assignment between elements of an array would.
    reference& operator=(const reference& other) requires(!std::is_const_v<T>) {
      span_.write(i_, other);
      return *this;
    }

   private:
    friend class local_span;
    reference(const local_span& span, std::size_t i) : span_(span), i_(i) {}
    local_span span_;
    std::size_t i_;
  };

  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    iterator() = default;
    [[nodiscard]] reference operator*() const { return span_[i_]; }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++i_;
      return before;
    }
    /// Compares iterators of the same span only.
    [[nodiscard]] bool operator==(const iterator& other) const { return i_ == other.i_; }

   private:
    friend class local_span;
    iterator(const local_span& span, std::size_t i) : span_(span), i_(i) {}
    local_span span_;
    std::size_t i_ = 0;
  };

  /// An empty span.
  local_span() = default;
  /// The `size` elements from `base` on. They must lie in one registration of this node.
  local_span(LocalMemory& memory, Address base, std::size_t size)
      : memory_(&memory), direct_(memory.direct(base, size * kWord)), base_(base), size_(size) {}
  /// A span converts to its read-only form.
  operator local_span<const Value>() const  // NOLINT(google-explicit-constructor): as of a pointer
      requires(!std::is_const_v<T>) {
    return {memory_, direct_, base_, size_};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Address of the first element, for one-sided operations.
  [[nodiscard]] Address address() const { return base_; }

  [[nodiscard]] reference operator[](std::size_t i) const {
    require(i);
    return {*this, i};
  }
  /// Operator [] with the bounds checked in all builds.
  [[nodiscard]] reference at(std::size_t i) const {
    if (i >= size_) refuse_element(i, size_);
    return {*this, i};
  }
  [[nodiscard]] Value load_acquire(std::size_t i) const {
    require(i);
    return read(i);
  }
  void store_release(std::size_t i, const Value& value) const requires(!std::is_const_v<T>) {
    require(i);
    write(i, value);
  }
  [[nodiscard]] local_span subspan(std::size_t first, std::size_t count) const {
#ifndef NDEBUG
    if (first > size_ || count > size_ - first) refuse_element(first + count, size_);
#endif
    return {memory_, direct_ == nullptr ? nullptr : direct_ + first, base_ + first * kWord, count};
  }
  [[nodiscard]] iterator begin() const { return {*this, 0}; }
  [[nodiscard]] iterator end() const { return {*this, size_}; }

 private:
  template <typename>
  friend class local_span;

  local_span(LocalMemory* memory, std::uint64_t* words, Address base, std::size_t size)
      : memory_(memory), direct_(words), base_(base), size_(size) {}

  void require([[maybe_unused]] std::size_t i) const {
#ifndef NDEBUG
    if (i >= size_) refuse_element(i, size_);
#endif
  }
  [[nodiscard]] Value read(std::size_t i) const {
    return std::bit_cast<Value>(direct_ != nullptr ? direct::load(direct_ + i) : memory_->load(base_ + i * kWord));
  }
  void write(std::size_t i, const Value& value) const {
    const auto word = std::bit_cast<std::uint64_t>(value);
    if (direct_ != nullptr)
      direct::store(direct_ + i, word);
    else
      memory_->store(base_ + i * kWord, word);
  }

  LocalMemory* memory_ = nullptr;
  std::uint64_t* direct_ = nullptr;  ///< null: every access is a call of the transport
  Address base_ = 0;
  std::size_t size_ = 0;
};

using local_words = local_span<std::uint64_t>;

}  // namespace loco
