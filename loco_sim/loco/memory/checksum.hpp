// The checksum that tells a whole value from a torn one (LOCO paper, Appendix H.6.1: "some function hash").
//
// Each word is mixed into the state with the 64-bit finaliser of MurmurHash3 (Austin Appleby), so that any change of
// any word changes about half of the bits: a mixture of two values passes with probability 2^-64. Never 0, which
// stands for "none" in a trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace loco {

class checksum_of_words {
 public:
  constexpr void add(std::uint64_t word) { state_ = mix(state_ + 0x9e3779b97f4a7c15U + word); }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_ == 0 ? 1 : state_; }

 private:
  static constexpr std::uint64_t mix(std::uint64_t h) {
    h = (h ^ (h >> 33U)) * 0xff51afd7ed558ccdU;
    h = (h ^ (h >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return h ^ (h >> 33U);
  }
  std::uint64_t state_ = 0;
};

[[nodiscard]] constexpr std::uint64_t checksum(std::span<const std::uint64_t> words) {
  checksum_of_words sum;
  for (const std::uint64_t word : words) sum.add(word);
  return sum.value();
}

/// Checksum of any number of bytes: their count, then the words, the last one padded with zeros.
[[nodiscard]] inline std::uint64_t checksum(std::span<const std::byte> bytes) {
  checksum_of_words sum;
  sum.add(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    sum.add(word);
  }
  return sum.value();
}

}  // namespace loco
