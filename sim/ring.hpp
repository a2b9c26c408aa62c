// A FIFO and a slot pool as values, for queues on the event path.
//
// Both keep their storage, so that a simulation in steady state allocates nothing; both are copied and compared
// by what they hold. Not thread-safe; indices, never pointers, name the elements.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace loco::sim {

/// First-in first-out queue on a circular buffer that doubles when full. Element 0 is the oldest.
template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  T& push_back(const T& item) {
    if (size_ == items_.size()) grow();
    T& place = items_[(head_ + size_) & (items_.size() - 1)];
    place = item;
    ++size_;
    return place;
  }
  void pop_front() {
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
  }
  void clear() { head_ = size_ = 0; }

  bool operator==(const Ring& other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!((*this)[i] == other[i])) return false;
    }
    return true;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 4 : items_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;  // the size is zero or a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

/// Slots named by index; a freed slot is the next to be used again.
template <class T>
class Pool {
 public:
  [[nodiscard]] std::uint32_t acquire() {
    if (free_.empty()) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void release(std::uint32_t slot) { free_.push_back(slot); }
  [[nodiscard]] T& operator[](std::uint32_t slot) { return slots_[slot]; }
  [[nodiscard]] const T& operator[](std::uint32_t slot) const { return slots_[slot]; }
  [[nodiscard]] std::size_t in_use() const { return slots_.size() - free_.size(); }

  bool operator==(const Pool&) const = default;

 private:
  std::vector<T> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace loco::sim
