// Shows: the rules take what they say, random ones uniformly and by seed; adversarial delays are 0, 1 or 100 times.
#include "sim/pick.hpp"

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::sim;

namespace {

EventQueue queue_of(std::uint64_t n) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < n; ++i) queue.push({.at = {static_cast<std::int64_t>(i)}, .a = i});
  return queue;
}

std::vector<std::uint64_t> order(EventQueue queue, Pick pick) {
  std::vector<std::uint64_t> result;
  while (!queue.empty()) result.push_back(pick(queue).a);
  return result;
}

}  // namespace

TEST_CASE("Timed takes the earliest") {
  CHECK(order(queue_of(4), Timed{}) == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(Pick{}.timed());
}

TEST_CASE("Random takes every event with the same probability, the same way for a seed") {
  constexpr int kRuns = 60000;
  std::map<std::vector<std::uint64_t>, int> seen;
  const EventQueue queue = queue_of(3);
  Stream seeds(4, "pick test");
  for (int i = 0; i < kRuns; ++i) ++seen[order(queue, Random{Stream(seeds(), "pick")})];
  // 3! orders, each expected 10,000 times; standard deviation sqrt(60,000 * 1/6 * 5/6) = 91.3, six of them.
  CHECK(seen.size() == 6);
  for (const auto& [events, count] : seen) CHECK(std::abs(count - kRuns / 6) < 548);

  const EventQueue big = queue_of(50);
  CHECK(order(big, Random{Stream(1, "pick")}) == order(big, Random{Stream(1, "pick")}));
  CHECK_FALSE(order(big, Random{Stream(1, "pick")}) == order(big, Random{Stream(2, "pick")}));
  CHECK_FALSE(Pick(Random{Stream(1, "pick")}).timed());
}

TEST_CASE("Chosen takes the event at the caller's index") {
  EventQueue queue = queue_of(5);
  for (const std::size_t index : {3U, 0U, 2U}) {
    const Event expected = queue.pending(index);
    CHECK(Chosen{index}(queue) == expected);
  }
  CHECK(queue.size() == 2);
}

TEST_CASE("Adversarial delays are none, nominal or a hundred times nominal") {
  Adversarial delay{Stream(1, "delays")};
  CHECK(delay.active());
  std::map<std::int64_t, int> seen;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) ++seen[delay(7_ps).ps];
  CHECK(seen.size() == 3);
  // Each expected 10,000 times; standard deviation sqrt(30,000 * 1/3 * 2/3) = 81.6, six of them.
  for (const std::int64_t ps : {0, 7, 700}) CHECK(std::abs(seen[ps] - kDraws / 3) < 490);
  Adversarial copy = delay;
  for (int i = 0; i < 100; ++i) REQUIRE(copy(3_ns) == delay(3_ns));
}

TEST_CASE("Without a stream delays stay nominal") {
  Adversarial delay;
  CHECK_FALSE(delay.active());
  for (int i = 0; i < 10; ++i) CHECK(delay(5_us) == 5_us);
}
