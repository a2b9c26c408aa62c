// Named random streams from one root seed (docs/machine.md, law 3: adding a component does not disturb the others).
//
// A stream is a copyable value of 32 bytes: copying a simulation copies what it will draw. Published algorithms only:
//   name -> 64 bits   FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv)
//   seeding           SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
//   generator         xoshiro256** 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", TOMS 2021)
//   bounded integers  multiply and reject (Lemire, "Fast random integer generation in an interval", TOMACS 2019)
// Determinism: integer arithmetic only, so the same numbers on every platform. Stream is a UniformRandomBitGenerator:
// use it with the distributions of Boost.Random, never with those of std, which differ between libraries.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

namespace loco::sim {

/// FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// One step of SplitMix64: advances `state`, returns the next number.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// The same, in [0, bound): uniform up to bound / 2^64, in one step, so that what is drawn depends on `state` alone.
constexpr std::uint64_t splitmix64_below(std::uint64_t& state, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{splitmix64(state)} * bound) >> 64U);
}

/// A sequence of random 64-bit words that belongs to one component.
class Stream {
 public:
  using result_type = std::uint64_t;
  using State = std::array<std::uint64_t, 4>;

  /// The stream of component `name` under `root_seed`.
  constexpr Stream(std::uint64_t root_seed, std::string_view name) {
    // The seed is scrambled before it meets the name: seeds 1, 2, 3... and similar names stay unrelated.
    std::uint64_t seeder = root_seed;
    seeder = splitmix64(seeder) ^ fnv1a64(name);
    for (auto& word : state_) word = splitmix64(seeder);
  }
  /// From a generator state, which may not be all zeros.
  constexpr explicit Stream(const State& state) : state_(state) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  constexpr result_type operator()() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), without bias. Precondition: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>((*this)()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>((*this)()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

  /// True with probability numerator / denominator. Precondition: denominator > 0.
  constexpr bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }

  /// A stream of its own for part `name` of this component; does not advance this stream.
  [[nodiscard]] constexpr Stream derive(std::string_view name) const {
    return {state_[0] ^ std::rotl(state_[1], 16) ^ std::rotl(state_[2], 32) ^ std::rotl(state_[3], 48), name};
  }

  [[nodiscard]] constexpr const State& state() const { return state_; }
  constexpr bool operator==(const Stream&) const = default;

 private:
  State state_{};
};

}  // namespace loco::sim
