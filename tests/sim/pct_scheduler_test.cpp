// Shows: agents are starved in stretches but never for ever, and what runs is a function of the stream.
#include "sim/pct_scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco::sim;

namespace {

using Demotion = PctScheduler::Demotion;

/// Which of `agents` that always have one event pending runs, `picks` times.
std::vector<std::size_t> schedule(std::size_t agents, std::size_t picks, std::uint64_t change_every, Demotion demotion,
                                  std::uint64_t seed) {
  Stream stream(seed, "pct test");
  PctScheduler scheduler(change_every, demotion);
  std::vector<std::size_t> ran;
  for (std::size_t i = 0; i < picks; ++i) ran.push_back(scheduler.pick(agents, stream, [](std::size_t e) { return e; }));
  return ran;
}

}  // namespace

TEST_CASE("The most urgent agent runs until it is demoted, and then all others run before it") {
  // With a change at every pick the three agents come in one order, again and again: each demotion puts the running
  // one behind the two others.
  const std::vector<std::size_t> ran = schedule(3, 300, 1, Demotion::behind_all, 7);
  for (std::size_t i = 3; i < ran.size(); ++i) CHECK(ran[i] == ran[i - 3]);
  std::vector<std::size_t> first(ran.begin(), ran.begin() + 3);
  std::sort(first.begin(), first.end());
  CHECK(first == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("No agent waits for ever, though the others never rest") {
  // Without a single change the most urgent agent alone would run; renewal every 4096 picks gives each of four agents the
  // lead in a quarter of the rounds. 100 rounds without it have a probability of 0.75^100 < 1e-12.
  std::array<std::size_t, 4> runs{};
  for (const std::size_t agent : schedule(4, std::size_t{100} * 4096, ~std::uint64_t{0}, Demotion::behind_all, 3)) ++runs[agent];
  for (const std::size_t n : runs) CHECK(n > 0);
}

TEST_CASE("Of one agent's events the first runs; the same stream gives the same schedule") {
  Stream stream(1, "pct test");
  PctScheduler scheduler(4, Demotion::redrawn);
  for (int i = 0; i < 100; ++i) REQUIRE(scheduler.pick(5, stream, [](std::size_t) { return 0U; }) == 0);
  CHECK(schedule(6, 5000, 8, Demotion::redrawn, 11) == schedule(6, 5000, 8, Demotion::redrawn, 11));
  CHECK(schedule(6, 5000, 8, Demotion::redrawn, 11) != schedule(6, 5000, 8, Demotion::redrawn, 12));
}
