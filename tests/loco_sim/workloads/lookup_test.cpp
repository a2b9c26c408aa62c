// Lookups of versioned values: torn ones are noticed, and those that can never succeed end.
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"
#include "tests/loco_sim/workloads/checked_run.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::test::contains_text;
using loco::test::Job;
using loco::test::Outcome;
using loco::test::run;
namespace workloads = loco::workloads;

TEST_CASE("lookups of what is always being rewritten end, where times mean nothing") {
  for (const Schedule schedule : {Schedule::random, Schedule::adversarial})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Outcome outcome =
          run({.kind = "lookup",
               .params = {{"iterations", 5}, {"size", 8}, {"objects", 2}, {"outstanding", 4}, {"reads", 1}},
               .nodes = 7,
               .schedule = schedule,
               .seed = seed});
      INFO("seed " << seed << "\n" << outcome.text);
      CHECK(outcome.consistent);
      CHECK(outcome.broken.empty());
    }
}

TEST_CASE("lookups taken for good that are torn are counted: READs that wait for each other have none", "[search]") {
  // model-weak keeps no order among READs: the version may be read twice before, or after, the value.
  const auto torn = [](std::int64_t reads, std::int64_t size) {
    const workloads::Workload& lookup = *workloads::find("lookup");
    workloads::Params params(lookup.params);
    for (const auto& [key, value] : {std::pair{"iterations", std::int64_t{5}},
                                     {"size", size},
                                     {"objects", 1},
                                     {"outstanding", 2},
                                     {"reads", reads}})
      params.set(key, value);
    std::uint64_t sum = 0;
    ClusterConfig c;
    c.nodes = 2;
    c.schedule = Schedule::random;
    for (c.seed = 1; c.seed <= 100; ++c.seed) {
      SimulatedCluster cluster(c);
      sum += workloads::run(lookup, params, cluster).counters.value("torn");
    }
    return sum;
  };
  for (const std::int64_t size : {8, 64}) {
    CHECK(torn(0, size) > 0);
    CHECK(torn(1, size) == 0);
  }
}

TEST_CASE("lookups that can never succeed are told so") {
  // Three READs that wait for each other take more than a microsecond; the one object is rewritten every 100 ns.
  Job job{
      .kind = "lookup",
      .params =
          {{"iterations", 1}, {"objects", 1}, {"reads", 1}, {"outstanding", 1}, {"size", 8}, {"update_pause_ns", 100}},
      .nodes = 2,
      .schedule = Schedule::timed,
      .profile = loco::test::round_profile()};
  CHECK_THROWS_WITH(run(job), contains_text("1001 lookups in a row have met an update"));
}
