// Every deliberate fault is found, by the rule that it breaks, and by the workload whose promise it takes away.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/loco_sim/workloads/checked_run.hpp"

using loco::Schedule;
using loco::test::Job;
using loco::test::Outcome;
using loco::test::pattern;
using loco::test::run;
namespace workloads = loco::workloads;

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
