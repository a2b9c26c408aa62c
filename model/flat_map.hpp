// A hash table for lookups only: open addressing, no iteration (so no order to depend on), cleared in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loco::model {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Key has `std::uint64_t hash() const` and ==. References stay valid until the next insertion.
template <class Key, class Value>
class FlatMap {
 public:
  FlatMap() : slots_(16) {}

  void clear() {
    ++epoch_;
    size_ = 0;
  }
  /// The value of the key, default-made when it is new.
  Value& operator[](const Key& key) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = find_slot(key);
    if (slot.epoch != epoch_) {
      slot = Slot{key, Value{}, epoch_};
      ++size_;
    }
    return slot.value;
  }
  [[nodiscard]] Value* find(const Key& key) {
    Slot& slot = find_slot(key);
    return slot.epoch == epoch_ ? &slot.value : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    Key key{};
    Value value{};
    std::uint32_t epoch = 0;
  };

  Slot& find_slot(const Key& key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = key.hash() & mask;
    while (slots_[i].epoch == epoch_ && !(slots_[i].key == key)) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.epoch == epoch_) find_slot(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint32_t epoch_ = 1;
};

struct WordKey {
  std::uint64_t address = 0;
  std::uint32_t node = 0;
  friend bool operator==(const WordKey&, const WordKey&) = default;
  [[nodiscard]] std::uint64_t hash() const { return mix(address + (std::uint64_t{node} << 48)); }
};

struct NumberKey {
  std::uint64_t number = 0;
  friend bool operator==(const NumberKey&, const NumberKey&) = default;
  [[nodiscard]] std::uint64_t hash() const { return mix(number); }
};

}  // namespace loco::model
