// A FIFO and a slot pool as values, for queues on the event path.
//
// Both reuse their storage, so a simulation in steady state allocates nothing. Both are copied and compared by content.
// Not thread-safe; elements are identified by index, never by pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace loco::sim {

/// First-in first-out queue on a circular buffer that doubles when full. Element 0 is the oldest. A queue that was
/// never used has no storage, and one that holds a single element at a time has room for one, because there are
/// millions of them.
template <class T>
class Ring {
 public:
  Ring() = default;
  Ring(const Ring& other) { *this = other; }
  Ring(Ring&& other) noexcept { *this = std::move(other); }
  Ring& operator=(const Ring& other) {
    if (this == &other) return *this;
    clear();
    if (capacity_ < other.size_) {
      items_ = std::make_unique<T[]>(other.capacity_);
      capacity_ = other.capacity_;
    }
    for (std::uint32_t i = 0; i < other.size_; ++i) items_[i] = other[i];
    size_ = other.size_;
    return *this;
  }
  Ring& operator=(Ring&& other) noexcept {
    items_ = std::move(other.items_);
    capacity_ = std::exchange(other.capacity_, 0);
    head_ = std::exchange(other.head_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~Ring() = default;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[(head_ + i) & (capacity_ - 1U)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[(head_ + i) & (capacity_ - 1U)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1U]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1U]; }

  T& push_back(const T& item) {
    if (size_ == capacity_) grow();
    T& place = (*this)[size_];
    place = item;
    ++size_;
    return place;
  }
  void pop_front() {
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }
  void pop_back() { --size_; }
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
    const std::uint32_t more = capacity_ == 0 ? 1 : capacity_ * 2;
    auto larger = std::make_unique<T[]>(more);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    capacity_ = more;
    head_ = 0;
  }

  std::unique_ptr<T[]> items_;
  std::uint32_t capacity_ = 0;  // zero or a power of two
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

/// Slots identified by index; the slot freed last is reused first.
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
