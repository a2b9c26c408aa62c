// Every workload, under every schedule, is consistent; every deliberate fault is found, by the rule that it breaks.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "loco_sim/workloads/attendance.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "loco_sim/workloads/zipfian.hpp"
#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::test::contains_text;
namespace workloads = loco::workloads;
namespace model = loco::model;

namespace {

constexpr std::array kLibraries = {model::Library::rdmawait, model::Library::sv,  model::Library::bal,
                                   model::Library::rbl,      model::Library::msw, model::Library::lock,
                                   model::Library::kvstore};

struct Outcome {
  bool consistent = true;
  std::string text;
  std::vector<std::string> broken;  ///< promises of the workload, without the numbers
  std::uint64_t subevents = 0;
  bool hung = false;  ///< programs waited for ever: told as a deadlock, or as too many events
};

struct Job {
  std::string kind;
  std::vector<std::pair<std::string, std::int64_t>> params = {};
  std::uint32_t nodes = 4;
  Schedule schedule = Schedule::random;
  std::uint64_t seed = 1;
  loco::nic::HardwareProfile profile = {};
  workloads::LibraryFaults library_faults = {};
  bool tower = false;  ///< check also what each library promises against the level below
  bool may_hang =
      false;  ///< with a fault, messages may be lost and programs wait for ever: then what they did is checked
};

Outcome run(const Job& job) {
  const workloads::Workload& workload = *workloads::find(job.kind);
  workloads::Params params(workload.params);
  for (const auto& [key, value] : job.params) params.set(key, value);
  ClusterConfig c;
  c.nodes = job.nodes;
  c.schedule = job.schedule;
  c.seed = job.seed;
  c.record = true;
  c.profile = job.profile;
  c.events_max = 3'000'000;
  SimulatedCluster cluster(c);
  Outcome outcome;
  try {
    for (const std::string& text : workloads::run(workload, params, cluster, job.library_faults).broken())
      outcome.broken.push_back(text.substr(0, text.find(':')));
  } catch (const loco::Deadlock&) {
    if (!job.may_hang) throw;
    outcome.hung = true;
  } catch (const loco::EventLimit&) {
    if (!job.may_hang) throw;
    outcome.hung = true;
  }
  const model::Verdict verdict = model::check(cluster.take_trace(), kLibraries, {.tower = job.tower});
  outcome.consistent = verdict.consistent();
  outcome.text = verdict.to_text();
  outcome.subevents = verdict.subevents;
  return outcome;
}

/// The value of the parameter `pattern` that stands for a name.
std::int64_t pattern(std::string_view name) {
  const auto& choices = workloads::find("pattern")->params[1].choices;
  return std::ranges::find(choices, name) - choices.begin();
}

}  // namespace

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
      CHECK(spec.minimum <= spec.fallback);
      CHECK(spec.fallback <= spec.maximum);
      CHECK((spec.kind == workloads::ParamKind::choice) == !spec.choices.empty());
    }
  for (const auto& spec : workloads::find("barrier")->params) {
    CAPTURE(spec.key);
    params.set(spec.key, spec.maximum);
    CHECK(params.get(spec.key) == spec.maximum);
    CHECK_THROWS_AS(params.set(spec.key, spec.maximum + 1), std::invalid_argument);
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
      {.kind = "transactions",
       .params = {{"iterations", 2}, {"threads_per_node", 2}, {"accounts", 5}, {"locks", 3}, {"algorithm", 1}},
       .nodes = 2},
      {.kind = "kvstore",
       .params = {{"iterations", 6}, {"threads_per_node", 2}, {"key_space", 80}, {"store", 1}},
       .nodes = 3},
  };
  for (const Job& like : jobs)
    for (const Schedule schedule : {Schedule::random, Schedule::adversarial})
      for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Job job = like;
        job.schedule = schedule;
        job.seed = seed;
        job.tower = seed % 10 == 0;
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

namespace {

struct FaultCase {
  const char* fault;    ///< of the hardware; null: the barrier without its fence
  const char* pattern;  ///< in which it shows
  const char* rule;     ///< what the checker must name
};

/// Each fault takes away one guarantee: the cell of Fig. 10, or the relation, that stands on it.
constexpr std::array kFaultCases = {
    FaultCase{"doorbell_before_stores", "store_put", "ppo (aCW before aNLR)"},
    FaultCase{"read_does_not_flush", "put_get", "ppo (aNRW before aNRR, same node)"},
    FaultCase{"completion_before_data", "get_read", "pfg"},
    FaultCase{"posted_passes_posted", "put_put", "ppo (aNRW before aNRW, same node)"},
    FaultCase{"payload_reads_reorder", "put_put_twice", "ppo (aNLR before aNLR, same node)"},
    FaultCase{"responder_reorders", "put_get", "ppo (aNRW before aNRR, same node)"},
    FaultCase{"fence_ignored", "get_fence_put", "aRF"},
    FaultCase{"early_write_completion", "put_wait_store", "pfp"},
    FaultCase{nullptr, "barrier_third_node", "bal so"},
};

/// Some faults show up in random order, some only where one component is held back for long.
Schedule schedule_of(std::uint64_t seed) { return seed % 2 == 0 ? Schedule::adversarial : Schedule::random; }

Job faulty(const FaultCase& c) {
  Job job{.kind = "pattern", .params = {{"iterations", 5}, {"pattern", pattern(c.pattern)}}, .nodes = 3};
  if (c.fault == nullptr) {
    job.library_faults.add(workloads::LibraryFault::barrier_without_fence);
    return job;
  }
  for (std::size_t i = 0; i < loco::nic::kFaultNames.size(); ++i)
    if (loco::nic::kFaultNames[i] == c.fault) job.profile.faults.add(static_cast<loco::nic::Fault>(i));
  REQUIRE(!job.profile.faults.none());
  return job;
}

}  // namespace

TEST_CASE(
    "every fault is found within a few hundred runs in random order, by the rule that it breaks, and the workload") {
  for (const FaultCase& c : kFaultCases) {
    Job job = faulty(c);
    int found = 0;
    int named = 0;
    int noticed = 0;
    for (std::uint64_t seed = 1; seed <= 600 && (found < 3 || named == 0 || noticed == 0); ++seed) {
      job.seed = seed;
      job.schedule = schedule_of(seed);
      const Outcome outcome = run(job);
      found += outcome.consistent ? 0 : 1;
      named += !outcome.consistent && outcome.text.find(c.rule) != std::string::npos ? 1 : 0;
      noticed += outcome.broken == std::vector<std::string>{"unexpected"} ? 1 : 0;
    }
    INFO((c.fault == nullptr ? "barrier_without_fence" : c.fault) << " in " << c.pattern);
    CHECK(found > 0);
    CHECK(named > 0);
    CHECK(noticed > 0);
  }
}

TEST_CASE("the checks of every workload find doorbells that overtake stores", "[search]") {
  const std::vector<Job> jobs = {
      {.kind = "quickstart", .params = {{"iterations", 5}}},
      {.kind = "barrier", .params = {{"iterations", 5}}},
      {.kind = "broadcast", .params = {{"iterations", 8}, {"outstanding", 2}}},
      {.kind = "broadcast", .params = {{"iterations", 8}, {"outstanding", 2}, {"over", 1}}},
      {.kind = "broadcast", .params = {{"iterations", 8}, {"outstanding", 2}, {"over", 2}, {"inline", 0}}},
      {.kind = "message_passing", .params = {{"iterations", 8}}},
      {.kind = "mixed_size", .params = {{"iterations", 8}, {"with", 0}, {"size", 24}}, .nodes = 2},
      {.kind = "mixed_size", .params = {{"iterations", 8}, {"with", 1}, {"size", 24}}, .nodes = 2},
      {.kind = "lock", .params = {{"iterations", 4}}},
      {.kind = "transactions", .params = {{"iterations", 4}, {"accounts", 4}, {"locks", 3}}},
      {.kind = "kvstore", .params = {{"iterations", 8}, {"key_space", 64}, {"locks", 2}}, .nodes = 3},
      {.kind = "dcdc", .params = {{"duration_us", 200}}, .nodes = 3},
  };
  for (const Job& like : jobs) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 200 && !found; ++seed) {
      Job job = like;
      job.profile.faults.add(loco::nic::Fault::doorbell_before_stores);
      job.seed = seed;
      job.schedule = schedule_of(seed);
      job.may_hang = true;
      const Outcome outcome = run(job);
      // A message that is read before it is written is one that nobody waits for: there the deadlock is what tells.
      const bool lost = outcome.hung && like.kind == "broadcast" && like.params.back().first == "inline";
      found = !outcome.consistent || !outcome.broken.empty() || lost;
    }
    std::string given;
    for (const auto& [key, value] : like.params) given += key + "=" + std::to_string(value) + " ";
    INFO(like.kind << " " << given);
    CHECK(found);
  }
}

TEST_CASE("what a workload promises is broken by name, where what it stands on is", "[search]") {
  using workloads::LibraryFault;
  struct Broken {
    const char* promise;
    Job job;
    std::optional<LibraryFault> library_fault = {};  ///< else the hardware's doorbells overtake stores
  };
  const std::vector<Broken> all = {
      // What is pushed, put or sent is what was there before the store: of an earlier time.
      {"stale_messages", {.kind = "message_passing", .params = {{"iterations", 8}}}},
      {"wrong_answers",
       {.kind = "kvstore", .params = {{"iterations", 8}, {"key_space", 64}, {"store", 1}, {"inline", 0}}}},
      {"wrong_results",
       {.kind = "kvstore", .params = {{"iterations", 8}, {"key_space", 64}, {"store", 1}, {"inline", 0}}}},
      {"wrong_messages",
       {.kind = "broadcast",
        .params = {{"iterations", 8}, {"outstanding", 2}, {"over", 2}, {"size", 24}, {"inline", 0}}}},
      // Section 5.2: a head that says more than has been written.
      {"wrong_messages",
       {.kind = "broadcast", .params = {{"iterations", 8}, {"outstanding", 4}, {"over", 1}}},
       LibraryFault::ring_without_wait},
      // Appendix D: what has been acknowledged may still be on its way; the words of two values.
      {"stale_broadcasts", {.kind = "quickstart", .params = {{"iterations", 20}}}, LibraryFault::barrier_without_fence},
      {"torn_values",
       {.kind = "mixed_size", .params = {{"iterations", 8}, {"with", 1}, {"size", 24}}, .nodes = 2},
       LibraryFault::guards_read_forward},
  };
  for (const Broken& broken : all) {
    Job job = broken.job;
    job.may_hang = true;
    if (broken.library_fault)
      job.library_faults.add(*broken.library_fault);
    else
      job.profile.faults.add(loco::nic::Fault::doorbell_before_stores);
    bool found = false;
    for (job.seed = 1; job.seed <= 600 && !found; ++job.seed) {
      job.schedule = schedule_of(job.seed);
      found = std::ranges::count(run(job).broken, broken.promise) != 0;
    }
    INFO(job.kind);
    INFO(broken.promise);
    CHECK(found);
  }
}

TEST_CASE("locks that do not fence lose updates and money, and the workloads notice", "[search]") {
  // LOCO paper, Section 6.2: what was written under a lock may still be on its way when the next holder reads.
  for (const auto& [kind, promise] : {std::pair{"lock", "lost_updates"}, {"transactions", "money_missing"}}) {
    bool noticed = false;
    for (std::uint64_t seed = 1; seed <= 600 && !noticed; ++seed) {
      Job job{.kind = kind, .params = {{"iterations", 4}, {"fence", 0}}};
      job.schedule = Schedule::adversarial;
      job.seed = seed;
      if (job.kind == "transactions") job.params.insert(job.params.end(), {{"accounts", 4}, {"locks", 3}});
      noticed = run(job).broken == std::vector<std::string>{promise};
    }
    INFO(kind);
    CHECK(noticed);
  }
}
