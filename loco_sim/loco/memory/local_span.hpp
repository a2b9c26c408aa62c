// A node's own network memory as an array of words: stands for a T* into it on real hardware.
//
// Reading an element is a load with acquire, writing it a store with release, each atomic by itself: on x86 plain
// moves, which TSO orders so. Where the transport shows its memory (LocalMemory::direct) they are made in line, through
// a pointer that the span has asked for once. Else, as in the simulator, each is a load or a store of the transport:
// it goes through the calling thread's store buffer and is in the trace as the read or write that it is, not as a call
// of the object whose words they are. Between a store and a later load that must not be before it belongs a
// memory_fence().
//
// Any thread of the node may use a span. It is copied like a pointer, and like one it must not outlive what it is made
// of: a mem_ref, a channel. There is no +=: it would look atomic, and is not.
// Errors: std::out_of_range from at() for an element that is not there; from [], load_acquire, store_release and
// subspan in debug builds (without NDEBUG), which else reach whatever is there. In the NIC's memory: ownership_error
// from the access. Units: elements of 8 bytes.
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

/// Words behind a pointer of LocalMemory::direct.
namespace direct {
[[nodiscard]] inline std::uint64_t load(std::uint64_t* word) {
  return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
}
inline void store(std::uint64_t* word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}
/// One after the other; whole words.
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

/// T: 8 bytes, trivially copyable; const T: for reading only.
template <typename T>
class local_span {
  using Value = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) == kWord, "an element is a word");

 public:
  /// Stands for an element: it is read where a value is wanted, and written by an assignment.
  class reference {
   public:
    reference(const reference&) = default;
    operator Value() const { return span_.read(i_); }  // NOLINT(google-explicit-constructor): it stands for one
    const reference& operator=(const Value& value) const requires(!std::is_const_v<T>) {
      span_.write(i_, value);
      return *this;
    }
    /// Copies the value.
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
    /// Of the same span.
    [[nodiscard]] bool operator==(const iterator& other) const { return i_ == other.i_; }

   private:
    friend class local_span;
    iterator(const local_span& span, std::size_t i) : span_(span), i_(i) {}
    local_span span_;
    std::size_t i_ = 0;
  };

  /// Of no elements.
  local_span() = default;
  /// `size` elements from an address on, all in one registration of the node.
  local_span(LocalMemory& memory, Address base, std::size_t size)
      : memory_(&memory), direct_(memory.direct(base, size * kWord)), base_(base), size_(size) {}
  /// For reading only.
  operator local_span<const Value>() const  // NOLINT(google-explicit-constructor): as of a pointer
      requires(!std::is_const_v<T>) {
    return {memory_, direct_, base_, size_};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Of the first element, for one-sided operations.
  [[nodiscard]] Address address() const { return base_; }

  [[nodiscard]] reference operator[](std::size_t i) const {
    require(i);
    return {*this, i};
  }
  /// The same, checked in all builds.
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
  std::uint64_t* direct_ = nullptr;  ///< null: every access is the transport's
  Address base_ = 0;
  std::size_t size_ = 0;
};

using local_words = local_span<std::uint64_t>;

}  // namespace loco
