// Every workload, under every schedule, is consistent.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "loco_sim/workloads/attendance.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "loco_sim/workloads/zipfian.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"
#include "tests/loco_sim/workloads/checked_run.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::test::contains_text;
using loco::test::Job;
using loco::test::Outcome;
using loco::test::pattern;
using loco::test::run;
namespace workloads = loco::workloads;

TEST_CASE("workloads are found by kind and check their parameters") {
  CHECK(workloads::find("barrier") != nullptr);
  CHECK(workloads::find("barier") == nullptr);
  workloads::Params params(workloads::find("barrier")->params);
  CHECK(params.get("iterations") == 1000);
  params.set("threads_per_node", 3);
  CHECK(params.count("threads_per_node") == 3);
  CHECK_THROWS_AS(params.set("threads_per_node", 0), std::invalid_argument);
  CHECK_THROWS_AS(params.set("thread", 1), std::invalid_argument);
  for (const auto& workload : workloads::all())
    for (const auto& spec : workload.params) {
      if (spec.type == loco::options::Type::text) continue;  // the name of a file
      CHECK(loco::options::in_range(spec, loco::options::default_number(spec)));
      CHECK((spec.type == loco::options::Type::choice) == !spec.choices.empty());
    }
  for (const auto& spec : workloads::find("barrier")->params) {
    CAPTURE(spec.key);
    params.set(spec.key, loco::options::largest(spec));
    CHECK(params.get(spec.key) == loco::options::largest(spec));
    CHECK_THROWS_AS(params.set(spec.key, loco::options::largest(spec) + 1), std::invalid_argument);
  }
  workloads::Params sizes(workloads::find("message_passing")->params);
  CHECK_THROWS_WITH(sizes.set("size", 12), contains_text("'size': expected a multiple of 8, found 12"));
  CHECK_THROWS_WITH(run({.kind = "pattern", .nodes = 2}), contains_text("needs 3 to 64 nodes, found 2"));
  CHECK_THROWS_WITH(run({.kind = "pattern", .nodes = 65}), contains_text("needs 3 to 64 nodes, found 65"));
}

TEST_CASE("results keep each operation's times, and those of the first and the last of all") {
  workloads::Results results;
  results.add("get", 10, 30);
  results.add("put", 5, 12);
  results.add("get", 20, 25);
  CHECK(results.first_start_ps == 5);
  CHECK(results.last_end_ps == 30);
  CHECK(results.operations_done() == 3);
  REQUIRE(results.find("get") != nullptr);
  CHECK(results.find("get")->samples_ps == std::vector<std::int64_t>{20, 5});
  CHECK(results.find("get")->ends_ps == std::vector<std::int64_t>{30, 25});
  CHECK(results.find("cas") == nullptr);
}

TEST_CASE("what is counted are operations as a user calls them, not their parts and not each thread of a barrier") {
  const auto done = [](const char* kind, std::uint32_t nodes,
                       std::initializer_list<std::pair<const char*, int>> settings) {
    const workloads::Workload& workload = *workloads::find(kind);
    workloads::Params params(workload.params);
    for (const auto& [key, value] : settings) params.set(key, value);
    loco::ClusterConfig config;
    config.profile = loco::test::round_profile();
    config.nodes = nodes;
    loco::SimulatedCluster cluster(config);
    return workloads::run(workload, params, cluster).operations_done();
  };
  CHECK(done("barrier", 4, {{"iterations", 5}, {"threads_per_node", 3}}) == 5);
  CHECK(done("lock", 3, {{"iterations", 7}, {"threads_per_node", 2}}) == 3 * 2 * 7);
  CHECK(done("broadcast", 4, {{"iterations", 6}}) == 6);
  // 8 rounds: a broadcast and a barrier each, and messages between two pairs of neighbours.
  CHECK(done("quickstart", 4, {{"iterations", 8}}) == 8 + 8 + 2 * 8);
}

TEST_CASE("Zipfian keys are as popular as 1 / rank^0.99") {
  constexpr std::uint64_t kItems = 1000;
  constexpr std::uint64_t kDraws = 200'000;
  const workloads::Zipfian zipfian(kItems);
  loco::sim::Stream stream(7, "zipfian");
  std::vector<double> share(kItems);
  for (std::uint64_t i = 0; i < kDraws; ++i) share.at(zipfian.rank(stream)) += 1.0 / kDraws;
  double zeta = 0;
  for (std::uint64_t r = 1; r <= kItems; ++r) zeta += std::pow(static_cast<double>(r), -0.99);
  const auto expected = [&](double rank) { return std::pow(rank, -0.99) / zeta; };
  CHECK(share[0] == Approx(expected(1)).epsilon(0.03));
  CHECK(share[1] == Approx(expected(2)).epsilon(0.04));
  // The others come from a closed formula, which is not exact: by tens.
  for (const std::size_t first : {10U, 100U, 500U}) {
    double here = 0;
    double there = 0;
    for (std::size_t r = first; r < 2 * first; ++r) {
      here += share[r];
      there += expected(static_cast<double>(r) + 1);
    }
    INFO("ranks " << first << " to " << 2 * first - 1);
    CHECK(here == Approx(there).epsilon(0.1));
  }
  // Popular items are no neighbours, and each rank is an item.
  std::set<std::uint64_t> items;
  for (int i = 0; i < 20'000; ++i) items.insert(zipfian.item(stream));
  CHECK(items.size() > kItems / 3);
  CHECK(*items.rbegin() < kItems);
}

TEST_CASE("workloads are consistent under every schedule") {
  const std::vector<Job> jobs = {
      {.kind = "quickstart", .params = {{"iterations", 3}}, .nodes = 4},
      {.kind = "quickstart", .params = {{"iterations", 2}}, .nodes = 3},
      {.kind = "barrier", .params = {{"iterations", 3}}, .nodes = 3},
      {.kind = "barrier", .params = {{"iterations", 2}, {"threads_per_node", 2}}, .nodes = 2},
      {.kind = "barrier", .params = {{"iterations", 2}, {"fence", 1}}, .nodes = 3},
      {.kind = "broadcast", .params = {{"iterations", 3}}, .nodes = 3},
      {.kind = "broadcast", .params = {{"iterations", 2}, {"size", 40}}, .nodes = 2},
      {.kind = "message_passing", .params = {{"iterations", 3}, {"size", 24}}, .nodes = 2},
      {.kind = "broadcast", .params = {{"iterations", 6}, {"outstanding", 3}}, .nodes = 3},
      {.kind = "broadcast", .params = {{"iterations", 6}, {"outstanding", 4}, {"over", 1}, {"ring", 48}}, .nodes = 3},
      {.kind = "mixed_size", .params = {{"iterations", 4}, {"with", 0}, {"size", 24}}, .nodes = 3},
      {.kind = "mixed_size", .params = {{"iterations", 4}, {"with", 1}, {"size", 24}}, .nodes = 3},
      {.kind = "lock", .params = {{"iterations", 2}, {"threads_per_node", 2}}, .nodes = 3},
      {.kind = "transactions",
       .params = {{"iterations", 2}, {"threads_per_node", 2}, {"accounts", 5}, {"locks", 3}},
       .nodes = 2},
      {.kind = "barrier", .params = {{"iterations", 3}, {"algorithm", 1}}, .nodes = 5},
      {.kind = "barrier", .params = {{"iterations", 3}, {"algorithm", 2}, {"threads_per_node", 2}}, .nodes = 3},
      {.kind = "barrier", .params = {{"iterations", 3}, {"algorithm", 3}, {"threads_per_node", 2}}, .nodes = 2},
      {.kind = "barrier", .params = {{"iterations", 3}, {"algorithm", 4}}, .nodes = 6},
      {.kind = "broadcast", .params = {{"iterations", 5}, {"outstanding", 2}, {"over", 2}, {"size", 24}}, .nodes = 6},
      {.kind = "broadcast", .params = {{"iterations", 5}, {"outstanding", 3}, {"over", 2}, {"wait", 1}}, .nodes = 3},
      {.kind = "dcdc", .params = {{"duration_us", 100}}, .nodes = 3},
      {.kind = "kvstore",
       .params = {{"iterations", 5}, {"threads_per_node", 2}, {"locks", 3}, {"key_space", 80}},
       .nodes = 3},
      {.kind = "broadcast", .params = {{"iterations", 6}, {"outstanding", 4}, {"over", 1}, {"heads", 3}}, .nodes = 3},
      {.kind = "lock", .params = {{"iterations", 2}, {"threads_per_node", 2}, {"algorithm", 1}}, .nodes = 3},
      {.kind = "lock",
       .params = {{"iterations", 2}, {"threads_per_node", 2}, {"algorithm", 1}, {"counter", 1}},
       .nodes = 3},
      {.kind = "lock", .params = {{"iterations", 2}, {"threads_per_node", 2}, {"counter", 1}}, .nodes = 3},
      {.kind = "transactions",
       .params = {{"iterations", 2}, {"threads_per_node", 2}, {"accounts", 5}, {"locks", 3}, {"algorithm", 1}},
       .nodes = 2},
      {.kind = "kvstore",
       .params = {{"iterations", 6}, {"threads_per_node", 2}, {"key_space", 80}, {"store", 1}},
       .nodes = 3},
      {.kind = "kvstore",
       .params = {{"iterations", 4}, {"threads_per_node", 2}, {"key_space", 80}, {"store", 2}},
       .nodes = 2},
      {.kind = "kvstore",
       .params = {{"iterations", 4}, {"key_space", 480}, {"store", 2}, {"mix", 5}, {"window", 2}, {"index_cache", 0}},
       .nodes = 2},
      {.kind = "kvstore", .params = {{"iterations", 6}, {"key_space", 960}, {"mix", 5}, {"window", 2}}, .nodes = 2},
      {.kind = "kvstore", .params = {{"iterations", 6}, {"key_space", 960}, {"mix", 4}, {"window", 2}}, .nodes = 2},
      {.kind = "kvstore", .params = {{"iterations", 6}, {"key_space", 960}, {"mix", 3}, {"store", 3}}, .nodes = 2},
      {.kind = "transactions",
       .params = {{"iterations", 3}, {"accounts", 9}, {"locks", 4}, {"algorithm", 1}, {"registrations", 1}},
       .nodes = 2},
  };
  for (const Job& like : jobs)
    for (const Schedule schedule : {Schedule::random, Schedule::adversarial})
      for (std::uint64_t seed = 1; seed <= loco::test::some(60) / loco::test::kShare; ++seed) {
        Job job = like;
        job.schedule = schedule;
        job.seed = seed;
        job.tower = seed % 10 == 5;
        const Outcome outcome = run(job);
        INFO(job.kind << ", seed " << seed << ", schedule " << static_cast<int>(schedule) << "\n" << outcome.text);
        REQUIRE(outcome.consistent);
        REQUIRE(outcome.broken.empty());
        REQUIRE(outcome.subevents > 0);
      }
}

TEST_CASE("nobody leaves a barrier before all have come, whatever the algorithm and the number of ranks") {
  const workloads::Workload& barrier = *workloads::find("barrier");
  const std::int64_t algorithm = GENERATE(0, 1, 2, 3, 4, 5);
  const std::uint32_t nodes = GENERATE(1U, 2U, 3U, 6U, 7U);
  const std::int64_t threads = GENERATE(1, 3);
  const Schedule schedule = GENERATE(Schedule::timed, Schedule::random, Schedule::adversarial);
  CAPTURE(algorithm, nodes, threads, schedule);
  workloads::Params params(barrier.params);
  params.set("algorithm", algorithm);
  params.set("threads_per_node", threads);
  params.set("iterations", 5);
  ClusterConfig c;
  c.nodes = nodes;
  c.schedule = schedule;
  SimulatedCluster cluster(c);
  const workloads::Results results = workloads::run(barrier, params, cluster);
  CHECK(results.promises == std::vector<std::string>{"left_early"});
  CHECK(results.broken().empty());
}

TEST_CASE("who leaves a barrier early is noticed") {
  workloads::Attendance two(2);
  for (const std::uint64_t round : {0U, 1U, 2U, 3U}) {
    two.come(round);
    CHECK_FALSE(two.all_came(round));  // the other one has not come
    two.come(round);
    CHECK(two.all_came(round));
  }
}

TEST_CASE("patterns are consistent and have the expected outcomes under every schedule") {
  for (std::int64_t p = 0; p < 8; ++p)
    for (const Schedule schedule : {Schedule::random, Schedule::adversarial})
      for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Outcome outcome = run({.kind = "pattern",
                                     .params = {{"iterations", 3}, {"pattern", p}},
                                     .nodes = 3,
                                     .schedule = schedule,
                                     .seed = seed});
        INFO("pattern " << p << ", seed " << seed << "\n" << outcome.text);
        REQUIRE(outcome.consistent);
        REQUIRE(outcome.broken.empty());
      }
}

TEST_CASE("what LOCO is compared with is consistent on real hardware, inline or not") {
  // Locks hold one holder at a time, the store is linearisable, no message is lost: the same rules as for LOCO's.
  const std::vector<Job> jobs = {
      {.kind = "barrier", .params = {{"iterations", 20}, {"algorithm", 2}, {"threads_per_node", 3}}, .nodes = 3},
      {.kind = "broadcast",
       .params = {{"iterations", 200}, {"outstanding", 64}, {"over", 2}, {"size", 64}},
       .nodes = 6},
      {.kind = "lock", .params = {{"iterations", 20}, {"threads_per_node", 2}, {"algorithm", 1}}, .nodes = 4},
      {.kind = "transactions",
       .params = {{"iterations", 20}, {"threads_per_node", 2}, {"accounts", 10}, {"locks", 7}, {"algorithm", 1}},
       .nodes = 4},
      {.kind = "kvstore",
       .params = {{"iterations", 300}, {"threads_per_node", 2}, {"key_space", 160}, {"store", 1}, {"window", 2}},
       .nodes = 3},
      {.kind = "kvstore",
       .params = {{"iterations", 60}, {"threads_per_node", 2}, {"key_space", 160}, {"store", 2}, {"window", 2}},
       .nodes = 3},
      {.kind = "kvstore",
       .params = {{"iterations", 60}, {"threads_per_node", 2}, {"key_space", 960}, {"store", 2}, {"mix", 5}},
       .nodes = 3},
      {.kind = "kvstore",
       .params = {{"iterations", 200}, {"threads_per_node", 2}, {"key_space", 1600}, {"store", 3}, {"mix", 5}},
       .nodes = 3},
  };
  for (Job job : jobs)
    for (const std::int64_t inline_max : {0, 236}) {
      job.schedule = Schedule::timed;
      job.profile = loco::test::round_profile();
      job.profile.nic_inline_max = {static_cast<std::uint64_t>(inline_max)};
      const Outcome outcome = run(job);
      INFO(job.kind << ", inline up to " << inline_max << "\n" << outcome.text);
      CHECK(outcome.consistent);
      CHECK(outcome.broken.empty());
    }
}

TEST_CASE("a hundred million accounts are as many as the paper has, and take no more than the transfers") {
  for (const std::int64_t algorithm : {0, 1}) {
    const Outcome outcome = run({.kind = "transactions",
                                 .params = {{"iterations", 20}, {"accounts", 100'000'000}, {"algorithm", algorithm}},
                                 .nodes = 3,
                                 .schedule = Schedule::timed,
                                 .profile = loco::test::round_profile()});
    INFO(outcome.text);
    CHECK(outcome.consistent);
    CHECK(outcome.broken.empty());
  }
}

TEST_CASE("timed runs on a realistic profile are consistent") {
  for (const char* kind : {"quickstart", "barrier", "broadcast", "message_passing", "pattern", "mixed_size", "lock",
                           "transactions", "kvstore"}) {
    const Outcome outcome = run({.kind = kind,
                                 .params = {{"iterations", 30}},
                                 .nodes = 5,
                                 .schedule = Schedule::timed,
                                 .profile = loco::test::round_profile()});
    INFO(kind << "\n" << outcome.text);
    CHECK(outcome.consistent);
    CHECK(outcome.broken.empty());
  }
}
