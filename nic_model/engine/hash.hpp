// Hashing of 64-bit words for state fingerprints: the same on every machine.
#pragma once

#include <cstdint>

namespace loco::nic {

/// The finaliser of SplitMix64: a bijection that spreads every bit.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Hash of a sequence of words. Each step, and the finaliser at the end, is a bijection of the state, so sequences that
/// differ in one word never have the same hash.
class Hasher {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0xbf58476d1ce4e5b9U;
    state_ ^= state_ >> 32U;
  }
  template <class... Words>
  void add_all(Words... words) {
    (add(static_cast<std::uint64_t>(words)), ...);
  }
  [[nodiscard]] std::uint64_t value() const { return mix(state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace loco::nic
