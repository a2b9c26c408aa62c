// CityHash64 of a key of 8 bytes (Pike and Alakuijala, "Introducing CityHash", 2011, version 1.1), with which the LOCO
// paper's benchmarks hash keys (Section 6.2).
//
// This is the algorithm's case of 8 to 16 bytes for a length of 8, where the first and the last 8 bytes are the same
// word, read in little-endian order: two products of rotated sums, folded into 64 bits by the Murmur-inspired reduction
// of 128 bits. Not a bijection: two keys may have the same hash.
#pragma once

#include <bit>
#include <cstdint>

namespace loco {

[[nodiscard]] constexpr std::uint64_t city_hash(std::uint64_t key) {
  constexpr std::uint64_t kPrime = 0x9ae16a3b2f90404fU;  // k2 of the published constants
  constexpr std::uint64_t kFactor = kPrime + 2 * sizeof key;
  const std::uint64_t sum = key + kPrime;
  const std::uint64_t low = std::rotl(key, 64 - 37) * kFactor + sum;
  const std::uint64_t high = (std::rotl(sum, 64 - 25) + key) * kFactor;
  const auto fold = [](std::uint64_t x) { return x ^ (x >> 47U); };
  const std::uint64_t first = fold((low ^ high) * kFactor);
  return fold((high ^ first) * kFactor) * kFactor;
}

}  // namespace loco
