// Shows: the histogram is exact where it says so and within 1/128 elsewhere; counters add up by name.
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco::sim;

TEST_CASE("Every percentile is within 1/128 of the nearest-rank value") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    Stream stream(seed, "histogram test");
    std::vector<std::int64_t> values;
    Histogram histogram;
    const std::uint64_t n = 1 + stream.below(2000);
    for (std::uint64_t i = 0; i < n; ++i) {
      // Log-uniform over the whole range of int64.
      values.push_back(static_cast<std::int64_t>(stream() >> (1 + stream.below(63))));
      histogram.record(values.back());
    }
    std::sort(values.begin(), values.end());
    Histogram::Sum sum = 0;
    for (const std::int64_t v : values) sum += static_cast<Histogram::Sum>(v);
    REQUIRE(histogram.count() == n);
    REQUIRE(histogram.min() == values.front());
    REQUIRE(histogram.max() == values.back());
    REQUIRE((histogram.sum() == sum));
    REQUIRE(histogram.percentile(0) == values.front());
    REQUIRE(histogram.percentile(100) == values.back());
    for (std::size_t rank = 1; rank <= n; ++rank) {
      // A percentage strictly between rank - 1 and rank picks rank, free of rounding.
      const double percent = (static_cast<double>(rank) - 0.5) * 100.0 / static_cast<double>(n);
      const std::int64_t exact = values[rank - 1];
      const std::int64_t reported = histogram.percentile(percent);
      REQUIRE(reported >= exact);
      REQUIRE(reported - exact <= exact / 128);
    }
  }
}

TEST_CASE("Small values are exact and whole percentages hit their rank") {
  Histogram histogram;
  for (std::int64_t v = 1; v <= 100; ++v) histogram.record(v);
  for (int percent = 1; percent <= 100; ++percent) CHECK(histogram.percentile(percent) == percent);
  CHECK(histogram.percentile(99.5) == 100);
  CHECK(histogram.mean() == 50.5);
}

TEST_CASE("Buckets tile the range without a gap") {
  Histogram histogram;
  std::vector<std::int64_t> edges;
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    for (const std::int64_t v : {power - 1, power, power + 1}) histogram.record(v);
  }
  histogram.record(std::numeric_limits<std::int64_t>::max());
  std::uint64_t total = 0;
  std::int64_t last_high = -1;
  for (const auto& bucket : histogram.buckets()) {
    REQUIRE(bucket.low > last_high);
    REQUIRE(bucket.high >= bucket.low);
    REQUIRE((bucket.high - bucket.low) <= bucket.low / 128);
    last_high = bucket.high;
    total += bucket.count;
  }
  CHECK(last_high == std::numeric_limits<std::int64_t>::max());
  CHECK(total == histogram.count());
  CHECK(histogram.max() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("Merging is the same as recording in one place") {
  Stream stream(3, "histogram merge");
  Histogram all;
  Histogram left;
  Histogram right;
  for (int i = 0; i < 1000; ++i) {
    const auto value = static_cast<std::int64_t>(stream.below(1'000'000'000));
    all.record(value);
    (stream.below(2) == 0 ? left : right).record(value);
  }
  left.merge(right);
  left.merge(Histogram{});
  CHECK(left == all);
  Histogram empty;
  empty.merge(all);
  CHECK(empty == all);
  Histogram times;
  times.record(5, 3);
  times.record(9, 0);
  CHECK(times.count() == 3);
  CHECK((times.sum() == 15));
}

TEST_CASE("An empty histogram reports zeros, wrong arguments are refused") {
  Histogram histogram;
  CHECK(histogram.empty());
  CHECK(histogram.min() == 0);
  CHECK(histogram.max() == 0);
  CHECK(histogram.percentile(50) == 0);
  CHECK(histogram.mean() == 0);
  CHECK(histogram.buckets().empty());
  CHECK_THROWS_AS(histogram.record(-1), std::invalid_argument);
  CHECK_THROWS_AS(histogram.percentile(-0.1), std::invalid_argument);
  CHECK_THROWS_AS(histogram.percentile(100.1), std::invalid_argument);
  CHECK_THROWS_AS(histogram.percentile(std::nan("")), std::invalid_argument);
}

TEST_CASE("Counters are found by name and merged by name") {
  Counters counters;
  const CounterId sent = counters.id("packets sent");
  const CounterId lost = counters.id("packets lost");
  counters.add(sent);
  counters.add(sent, 4);
  counters.add(lost);
  CHECK(counters.id("packets sent").index == sent.index);
  CHECK(counters.value("packets sent") == 5);
  CHECK(counters.value("unknown") == 0);
  Counters other;
  other.add(other.id("acks"), 2);
  other.add(other.id("packets lost"), 10);
  counters.merge(other);
  CHECK(counters.value(lost) == 11);
  CHECK(counters.value("acks") == 2);
  CHECK(counters.names() == std::vector<std::string>{"packets sent", "packets lost", "acks"});
}
