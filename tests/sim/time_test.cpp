// Shows: quantities keep their units, and the one rounding rule is "up".
#include "sim/time.hpp"

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco::sim;

TEST_CASE("Literals are picoseconds, bytes and bits per second") {
  CHECK((1_ns).ps == 1'000);
  CHECK((1_us).ps == 1'000'000);
  CHECK((1_ms).ps == 1'000'000'000);
  CHECK((4_KiB).count == 4096);
  CHECK((25_Gbps).value == 25'000'000'000U);
  CHECK(SimTime{} + 3_ns - SimTime{1'000} == 2_ns);
}

TEST_CASE("Transmission time is exact where it is whole and rounded up elsewhere") {
  // 1 byte at 25 Gbit/s: 8 / 25e9 s = 320 ps, a whole number.
  CHECK(transmission_time(1_B, 25_Gbps) == 320_ps);
  CHECK(transmission_time(4096_B, 25_Gbps) == 1'310'720_ps);
  // 1 byte at 3 Gbit/s: 2666.67 ps.
  CHECK(transmission_time(1_B, 3_Gbps) == 2667_ps);
  CHECK(transmission_time(3_B, 3_Gbps) == 8000_ps);
  // A rate so high that a byte takes less than a picosecond still takes one.
  CHECK(transmission_time(1_B, BitsPerSecond{9'000'000'000'000U}) == 1_ps);
  CHECK(transmission_time(0_B, 25_Gbps) == 0_ps);
  // Rate zero is the ideal link.
  CHECK(transmission_time(4096_B, BitsPerSecond{0}) == 0_ps);
  // 1 TiB at 1 bit/s would be 8.8e24 ps and is not representable; 100 GB at 100 Mbit/s is 8000 s and is.
  CHECK(transmission_time(Bytes{100'000'000'000U}, BitsPerSecond{100'000'000U}).ps == 8'000'000'000'000'000);
}

TEST_CASE("A resource is never free before it really is, and at most a picosecond late") {
  Stream stream(1, "time test");
  for (int i = 0; i < 10'000; ++i) {
    const Bytes size{stream.below(1U << 20U)};
    const BitsPerSecond rate{1 + stream.below(800'000'000'000U)};
    const Duration t = transmission_time(size, rate);
    __extension__ using Wide = unsigned __int128;
    const Wide needed = static_cast<Wide>(size.count) * 8U * 1'000'000'000'000U;  // bits times ps per second
    const Wide given = static_cast<Wide>(t.ps) * rate.value;
    REQUIRE((given >= needed));
    REQUIRE((given < needed + rate.value));
  }
}
