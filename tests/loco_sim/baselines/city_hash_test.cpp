// CityHash64 of 8 bytes against known answers.
#include "loco_sim/loco/store/city_hash.hpp"

#include "tests/catch.hpp"

using loco::city_hash;

TEST_CASE("CityHash64 of 8 bytes gives the published value") {
  // The one of the 300 vectors of CityHash 1.1's own test (city-test.cc, testdata[8]) that has 8 bytes. These are the
  // bytes 64 to 71 of the pseudorandom data that it sets up.
  std::uint64_t a = 9, b = 777, key = 0;
  constexpr std::uint64_t kFactor = 0xc3a5c85c97cb3127U;
  for (std::uint64_t i = 0; i < 72; ++i) {
    a += b;
    b += a;
    a = (a ^ (a >> 41U)) * kFactor;
    b = (b ^ (b >> 41U)) * kFactor + i;
    if (i >= 64) key |= (b >> 37U & 0xffU) << 8 * (i - 64);
  }
  CHECK(key == 0xa0f8cdc16024411fU);
  CHECK(city_hash(key) == 0xa0f10149a0e538d6U);
}

TEST_CASE("CityHash64 of 8 bytes gives what other libraries give") {
  // Python's cityhash 0.4.10, CityHash64 of the key's 8 bytes in little-endian order.
  STATIC_REQUIRE(city_hash(0) == 0x14397a23417af284U);
  STATIC_REQUIRE(city_hash(1) == 0x523be90bb03b5a61U);
  STATIC_REQUIRE(city_hash(2) == 0x2e891e4437794289U);
  STATIC_REQUIRE(city_hash(0xffffffffffffffffU) == 0x2fffe7a41fb59155U);
  STATIC_REQUIRE(city_hash(0x0123456789abcdefU) == 0x5756e4300150a3d1U);
  STATIC_REQUIRE(city_hash(0x8000000000000000U) == 0x692dbaa42bc69d1aU);
}
