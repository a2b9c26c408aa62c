// Converts a value to the 8-byte words that network memory holds, and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace loco {

template <typename T>
struct value_words {
  static_assert(std::is_trivially_copyable_v<T>,
                "a value of a channel is copied byte by byte between nodes, so its type must be trivially copyable: "
                "std::string and containers point into one node's memory; take std::array, or std::array<char, N>");
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  static constexpr bool kAtomic = kWords == 1;
  using Words = std::array<std::uint64_t, kWords>;

  [[nodiscard]] static Words of(const T& value) {
    Words result{};
    std::memcpy(result.data(), &value, sizeof(T));
    return result;
  }
  [[nodiscard]] static T value(const Words& held) {
    T result;
    std::memcpy(&result, held.data(), sizeof(T));
    return result;
  }
};

}  // namespace loco
