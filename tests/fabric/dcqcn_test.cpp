// DCQCN's state machine where its counters meet its limits (Zhu et al., SIGCOMM 2015, figure 7); the rest of it is in
// congestion_test.cpp.
#include "fabric/congestion/dcqcn.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {
constexpr sim::SimTime at_us(std::int64_t us) { return {us * 1'000'000}; }
}  // namespace

TEST_CASE("DCQCN: cuts end at the least rate, and raise no line above its own") {
  DcqcnOptions o;
  Dcqcn d(100_Gbps);
  for (int i = 0; i < 100; ++i) d.on_cnp({0}, o);
  CHECK(d.rate() == o.rate_least);
  Dcqcn slow({10'000'000});  // 10 Mb/s; the least rate is 40
  slow.on_cnp({0}, o);
  CHECK(slow.rate() == sim::BitsPerSecond{10'000'000});
}

TEST_CASE("DCQCN: increases before a CNP are no increases after it, by time or by volume") {
  // Four of them, one less than F: after the cut the next four only go half of the way back again.
  DcqcnOptions o;
  const bool by_time = GENERATE(true, false);
  if (!by_time) o.rate_timer = sim::Duration{1'000'000'000'000};
  Dcqcn d(100_Gbps);
  std::int64_t us = 0;
  const auto increase = [&] {
    us += 55;
    if (by_time) d.on_timer(at_us(us), o);
    if (!by_time) d.on_bytes(at_us(us), o.byte_counter, o);
  };
  d.on_cnp({}, o);
  for (int i = 0; i < 4; ++i) increase();
  d.on_cnp(at_us(us), o);
  const sim::BitsPerSecond target = d.target();
  for (int i = 0; i < 4; ++i) {
    increase();
    CHECK(d.target() == target);
  }
  increase();
  CHECK(d.target().value == target.value + o.additive.value);
}

TEST_CASE("DCQCN: what is sent counts behind the timers that were due before it") {
  const DcqcnOptions o;
  Dcqcn d(100_Gbps);
  d.on_cnp({}, o);  // 50 Gb/s; at 55 us 75
  d.on_bytes(at_us(60), o.byte_counter, o);
  CHECK(d.rate() == sim::BitsPerSecond{87'500'000'000});
}

TEST_CASE("DCQCN: several increases at once are one after the other, and what is left of the bytes is kept") {
  const DcqcnOptions o;
  Dcqcn d(100_Gbps);
  d.on_cnp({}, o);
  d.on_bytes(at_us(1), {25'000'000}, o);  // two and a half times the byte counter: 50, 75, 87.5
  CHECK(d.rate() == sim::BitsPerSecond{87'500'000'000});
  d.on_bytes(at_us(2), {5'000'000}, o);
  CHECK(d.rate() == sim::BitsPerSecond{93'750'000'000});
}

TEST_CASE("DCQCN: timers that nobody asked about for long have come at their times, not now") {
  // Asked at 100 us, after the first 55: the next is due at 110.
  const DcqcnOptions o;
  Dcqcn d(100_Gbps);
  d.on_cnp({}, o);
  d.on_timer(at_us(100), o);
  CHECK(d.rate() == 75_Gbps);
  d.on_timer(at_us(109), o);
  CHECK(d.rate() == 75_Gbps);
  d.on_timer(at_us(110), o);
  CHECK(d.rate() == sim::BitsPerSecond{87'500'000'000});
  const std::uint32_t once = Dcqcn::kOne - Dcqcn::kOne / 256;
  CHECK(d.alpha() == once - once / 256);
}

// --- mlx5 ------------------------------------------------------------------------------------------------------------

TEST_CASE("DCQCN of mlx5: one CNP takes half of the rate, and timed increases give back half of what is missing each") {
  // alpha = 1023/1024: 100 (1 - alpha / 2) = 50.05 Gb/s; the target stays, since no increase came before the cut, so
  // after n periods of 300 us the rate is 100 - 49.95 / 2^n.
  const DcqcnOptions o = mlx5_dcqcn();
  Dcqcn d(100_Gbps, o);
  d.on_cnp({}, o);
  const double cut = 100 * 1023.0 / 2048;
  CHECK(d.rate().value == Approx((100 - cut) * 1e9).epsilon(1e-9));
  CHECK(d.target() == 100_Gbps);
  for (const auto& [us, increases] : {std::pair{300, 1}, std::pair{600, 2}, std::pair{1'800, 6}}) {
    d.on_timer(at_us(us), o);
    CHECK(d.rate().value == Approx((100 - cut / std::pow(2, increases)) * 1e9).epsilon(1e-6));
  }
}

TEST_CASE("DCQCN of mlx5: without CNPs alpha decays by 1019/1024 a microsecond") {
  const DcqcnOptions o = mlx5_dcqcn();
  Dcqcn d(100_Gbps, o);
  d.on_cnp({}, o);
  d.on_timer(at_us(100), o);
  CHECK(d.alpha() / static_cast<double>(Dcqcn::kOne) ==
        Approx(1023.0 / 1024 * std::pow(1019.0 / 1024, 100)).epsilon(0.001));
}

TEST_CASE("DCQCN of mlx5: CNPs within 4 us cut once; the target falls only behind a timed increase") {
  const DcqcnOptions o = mlx5_dcqcn();
  Dcqcn d(100_Gbps, o);
  d.on_cnp({}, o);
  const sim::BitsPerSecond once = d.rate();
  d.on_cnp(at_us(3), o);
  CHECK(d.rate() == once);
  d.on_cnp(at_us(4), o);
  // alpha has decayed four times at most: 1 - 0.999 (1019/1024)^4 / 2 of the rate is left.
  CHECK(static_cast<double>(d.rate().value) < static_cast<double>(once.value) * 0.5103);
  CHECK(d.target() == 100_Gbps);
  d.on_timer(at_us(304), o);
  const sim::BitsPerSecond before = d.rate();
  d.on_cnp(at_us(305), o);
  CHECK(d.target() == before);
}

TEST_CASE("DCQCN: a first CNP may set the rate, a cut may leave a part, and no rate passes the most") {
  DcqcnOptions o;
  o.rate_most = 50_Gbps;
  o.rate_first = 10_Gbps;
  Dcqcn d(100_Gbps, o);
  CHECK(d.rate() == 50_Gbps);
  d.on_cnp({}, o);
  CHECK(d.rate() == 10_Gbps);
  d.on_cnp({}, o);
  CHECK(d.rate().value == Approx(5e9).epsilon(0.01));
  DcqcnOptions keeps;
  keeps.cut_keeps = 80;
  Dcqcn k(100_Gbps, keeps);
  k.on_cnp({}, keeps);
  CHECK(k.rate() == 80_Gbps);
}
