// What waiting for a lock costs: work requests, and time when packets are lost. Bounds are derived beside each test.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"

namespace workloads = loco::workloads;

namespace {

using Settings = std::vector<std::pair<std::string, std::int64_t>>;

constexpr std::uint32_t kHosts = 8;

struct Waits {
  double seconds = 0;
  double operations = 0;  ///< of the kind that was asked for
  double longest = 0;     ///< of its durations, in seconds
  loco::nic::Counters counters;
};

loco::ClusterConfig lossy(std::uint32_t loss, std::uint64_t seed) {
  static const auto profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  loco::ClusterConfig config;
  config.profile = profile;
  config.nodes = kHosts;
  config.network.options.loss = loss;
  config.network.seed = seed;
  return config;
}

Waits run_lossy(const std::string& kind, const std::string& operation, const Settings& settings, std::uint32_t loss = 0,
                std::uint64_t seed = 1) {
  const workloads::Workload& workload = *workloads::find(kind);
  workloads::Params params(workload.params);
  for (const auto& [key, value] : settings) params.set(key, value);
  loco::SimulatedCluster cluster(lossy(loss, seed));
  const workloads::Results results = workloads::run(workload, params, cluster);
  CHECK(results.broken().empty());
  Waits run{.seconds = static_cast<double>(results.last_end_ps - results.first_start_ps) / 1e12,
            .counters = cluster.system().counters()};
  for (const std::int64_t ps : results.find(operation)->samples_ps) {
    ++run.operations;
    run.longest = std::max(run.longest, static_cast<double>(ps) / 1e12);
  }
  return run;
}

double time_out() { return static_cast<double>(lossy(0, 1).profile.nic_ack_timeout.ps) / 1e12; }

// A section on a lock that others want, from its holder's draw to the telling of the next: draw and look, the name with
// the sign and behind it the look at what is served and for the sign of the one before, read the counter, write it and
// fence, ask who is next, tell it.
constexpr double kRequestsPerSection = 9;
// Each is sent and answered; each way has two links, each of which may lose it.
constexpr double kLinkPassages = kRequestsPerSection * 2 * 2;

constexpr std::int64_t kIterations = 100;
constexpr double kSections = double{kHosts} * kIterations;

Waits sections(std::uint32_t loss, std::uint64_t seed = 1) {
  return run_lossy("lock", "critical_section", {{"iterations", kIterations}}, loss, seed);
}

}  // namespace

TEST_CASE("sections under a lock that all want cost nine work requests, however long they wait", "[figures]") {
  const Waits run = sections(0);
  CHECK(run.operations == kSections);
  const double requests = static_cast<double>(run.counters.work_requests) / kSections;
  CHECK(requests > 0.9 * kRequestsPerSection);   // a few find the lock free
  CHECK(requests < 1.05 * kRequestsPerSection);  // set-up and the barrier at the end
  // First come, first served: who draws has each other node before it once, and is then in its own section; the
  // sections of some nodes take half as long again as those of others, who have the counter nearer.
  CHECK(run.longest < 1.5 * kHosts * run.seconds / kSections);
}

TEST_CASE("under a lock what packets that are lost cost is their time-outs", "[figures]") {
  const Waits lossless = sections(0);
  for (const std::uint32_t loss : {100U, 300U, 1'000U, 3'000U}) {
    INFO(loss << " in a million");
    constexpr int kSeeds = 5;  // 14 losses are expected of them with the fewest
    double seconds = 0;
    double time_outs = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Waits run = sections(loss, seed);
      CHECK(run.operations == kSections);
      seconds += run.seconds;
      time_outs += static_cast<double>(run.counters.timeouts);
      // None is for a question that was asked because of the waiting.
      CHECK(static_cast<double>(run.counters.work_requests) <
            1.02 * static_cast<double>(lossless.counters.work_requests));
    }
    CHECK(time_outs > 0);
    const double lost = kSeeds * kSections * kLinkPassages * loss / 1e6;
    CHECK(seconds < kSeeds * lossless.seconds + 2 * lost * time_out());
    // Each holds everybody up once.
    CHECK(seconds < 1.05 * (kSeeds * lossless.seconds + time_outs * time_out()));
  }
}

TEST_CASE("an update of a store costs five work requests at any window, with and without losses", "[figures]") {
  // Draw, look, write, fence, release; write and fence fall away on the own node, for one key in eight. A lock that is
  // found taken costs some more: name and look, a sign on the home or another look for one, asking for the name. Where
  // many are, threads of one node share them: with 4,096 updates under way and 256 locks it is one more an update at
  // most. Where packets may be lost, a node may be given up, and what the index says of a slot on another node is
  // believed once that has been looked at: a get.
  constexpr double kAlone = 5 - 2.0 / kHosts, kInspects = 1 - 1.0 / kHosts;
  for (const std::int64_t window : {3, 128})
    for (const std::uint32_t loss : {0U, 100U, 3'000U}) {
      if (loss == 100 && !loco::test::all_cases()) continue;
      INFO("window " << window << ", " << loss << " in a million");
      enum : std::int64_t { kWrite = 2 };
      const Waits run =
          run_lossy("kvstore", "update",
                    {{"mix", kWrite}, {"window", window}, {"threads_per_node", 4}, {"iterations", 500}}, loss);
      const double requests = static_cast<double>(run.counters.work_requests) / run.operations;
      const double inspects = loss == 0 ? 0 : kInspects;
      CHECK(requests > 0.9 * (kAlone + inspects));
      // Who sees that the lock has been let go and does not get it asks for 64 round trips at once, then less and less
      // often, and each 1,024th of the time of all retries (8 time-outs, and 1 ms) in the end: 130 times a time-out.
      CHECK(requests < 6 + inspects + 200 * static_cast<double>(run.counters.timeouts) / run.operations);
    }
}
