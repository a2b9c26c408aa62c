// Random networks with faults: whatever is lost, late, out of order or paused, each work request ends, what was
// acknowledged is in place, and every packet that was sent was delivered or lost.
//
// Replay one: LOCO_SIM_SEED=<seed> test_nic_networks. Others than those by default: LOCO_SIM_FIRST=<seed>.
#include <cstdlib>
#include <fmt/format.h>

#include "random_network.hpp"
#include "tests/catch.hpp"

using namespace loco;
using test::TrafficOutcome;

namespace {

struct Tally {
  std::uint64_t networks = 0, succeeded = 0, failed = 0, lossy = 0, paused = 0, timed_out = 0, deadlocks = 0;
};

void run_network(std::uint64_t seed, Tally& tally) {
  INFO("LOCO_SIM_SEED=" << seed);
  const TrafficOutcome outcome = test::run_traffic(test::random_network(seed), seed);
  CHECK(outcome.wrong == "");
  ++tally.networks;
  tally.succeeded += outcome.succeeded;
  tally.failed += outcome.failed;
  tally.lossy += outcome.lost != 0 ? 1U : 0U;
  tally.paused += outcome.pauses != 0 ? 1U : 0U;
  tally.timed_out += outcome.timeouts != 0 ? 1U : 0U;
  tally.deadlocks += outcome.deadlock ? 1U : 0U;
}

void run_networks(std::uint64_t first, std::uint64_t count) {
  Tally t;
  if (const char* seed = std::getenv("LOCO_SIM_SEED"); seed != nullptr) {
    return run_network(std::strtoull(seed, nullptr, 10), t);
  }
  if (const char* other = std::getenv("LOCO_SIM_FIRST"); other != nullptr) first = std::strtoull(other, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run_network(seed, t);
  WARN(
      fmt::format("{} networks: {} work requests succeeded, {} failed; losses on {}, pauses on {}, time-outs on {}, "
                  "deadlocks on {}",
                  t.networks, t.succeeded, t.failed, t.lossy, t.paused, t.timed_out, t.deadlocks));
  // A test whose networks are all quiet says nothing.
  CHECK(t.succeeded > 10 * count);
  CHECK(t.failed > count / 10);
  CHECK(t.lossy > count / 4);
  CHECK(t.timed_out > count / 10);
  CHECK(t.paused > count / 20);
}

}  // namespace

TEST_CASE("random networks with faults keep every promise") {
  run_networks(1, loco::test::kShare > 1 ? 50 : 200);  // sanitized: still enough that each fault happens
}

TEST_CASE("random networks with faults, 10,000", "[.long]") { run_networks(10'001, 10'000); }
