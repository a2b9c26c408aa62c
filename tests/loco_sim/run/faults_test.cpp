// Every deliberate fault has a scenario in which the checker finds it and names the right rule; without the fault it
// finds nothing, whatever the seed.
//
// The expected rule is the one of the definition that the fault breaks (LOCO paper, Fig. 10, Def. G.2, Section 4): it
// must be an edge of the cycle that is reported.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "tests/catch.hpp"

using loco::model::Rule;
using loco::trace::Library;

namespace {

struct Expected {
  std::string fault;
  Library library;   ///< the lowest level that is inconsistent
  Rule rule;         ///< the broken rule: an edge of the cycle, or a predicate
  std::string edge;  ///< in the words of that edge: the cell of Fig. 10, where there is one; empty for a predicate
};

const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all = {
      // B6: a store is before the payload read of a later put; the put read around it.
      {"doorbell_before_stores", Library::rdmawait, Rule::ppo, "aCW before aNLR"},
      // G8: a put's write is before a later get's read of the node; the get read around it.
      {"read_does_not_flush", Library::rdmawait, Rule::ppo, "aNRW before aNRR"},
      {"responder_reorders", Library::rdmawait, Rule::ppo, "aNRW before aNRR"},
      // pfg: a get has written before the wait for it ends; the read after the wait missed it.
      {"completion_before_data", Library::rdmawait, Rule::pfg, "pfg"},
      // G7: puts write in order; a reader saw the second, not the first.
      {"posted_passes_posted", Library::rdmawait, Rule::ppo, "aNRW before aNRW"},
      // F6: puts read their sources in order; the first saw a newer store than the second.
      {"payload_reads_reorder", Library::rdmawait, Rule::ppo, "aNLR before aNLR"},
      // Row J: what comes after a remote fence is after it; the put went before the get was done.
      {"fence_ignored", Library::rdmawait, Rule::ppo, "aRF before"},
      // pfp: a put was issued, its source read, before the wait for it ends; it read a store made after the wait.
      {"early_write_completion", Library::rdmawait, Rule::pfp, "pfp"},
      // IBTA 9.7: the saved answer is sent, the request is not executed again.
      {"atomic_replayed", Library::rdmawait, Rule::once, ""},
      // Section 4: a barrier's aGF has everything before it done (cells F11 and G11); a put was not.
      {"barrier_without_fence", Library::bal, Rule::ppo, "before aGF"},
      // Section 5.2: the head of the first message was pushed with the second one's value, before the second message.
      {"ring_without_wait", Library::rbl, Rule::message_value, ""},
      // App. D: a tuple that nobody wrote was returned.
      {"guards_read_forward", Library::msw, Rule::torn_read, ""},
      // docs/atomics.md, "In traces": a strong lock's writes, wherever, are in memory before the next holder goes on.
      {"lock_released_before_data", Library::lock, Rule::promise, ""},
      {"lock_without_home_fence", Library::lock, Rule::promise, ""},
      // Two draw the same ticket.
      {"lock_by_get_and_put", Library::lock, Rule::mutual_exclusion, ""},
      // The CPU's write came between the two halves of a NIC's atomic.
      {"lock_by_home_cas", Library::rdmawait, Rule::mixed_access, ""},
  };
  return all;
}

std::string path_of(const std::string& fault) { return LOCO_SIM_SOURCE_DIR "/scenarios/faults/" + fault + ".yaml"; }

/// Runs the scenario without its fault under each seed; the first seed whose run is not as it should be, or 0.
std::uint64_t first_bad_seed(const std::string& fault, std::uint64_t seeds) {
  const std::vector<loco::scenario::Override> clean = {{"faults", "[]"}, {"workload.iterations", "10"}};
  loco::scenario::Scenario scenario = loco::scenario::load_scenario(path_of(fault), clean);
  for (scenario.seed = 1; scenario.seed <= seeds; ++scenario.seed) {
    const loco::RunResult result = loco::run(scenario);
    if (!result.consistent()) return scenario.seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("a fault is caught, and by the rule that it breaks", "[faults]") {
  const Expected expected = GENERATE(from_range(expectations()));
  CAPTURE(expected.fault);
  const loco::scenario::Scenario scenario = loco::scenario::load_scenario(path_of(expected.fault));
  REQUIRE(scenario.faults == std::vector<std::string>{expected.fault});
  const loco::RunResult result = loco::run(scenario);
  REQUIRE(result.verdict);
  CAPTURE(result.verdict->to_text());
  CHECK_FALSE(result.consistent());
  const auto bad = std::find_if(result.verdict->results.begin(), result.verdict->results.end(),
                                [](const auto& r) { return !r.consistent; });
  REQUIRE(bad != result.verdict->results.end());
  CHECK(bad->library == expected.library);
  if (expected.edge.empty()) {
    CHECK(std::ranges::any_of(bad->violations, [&](const auto& v) { return v.rule == expected.rule; }));
    return;
  }
  REQUIRE(bad->violations.size() == 1);
  CHECK(std::ranges::any_of(bad->violations[0].cycle, [&](const loco::model::Step& step) {
    return step.rule == expected.rule && step.edge_text.find(expected.edge) != std::string::npos;
  }));
}

TEST_CASE("every fault that exists has its scenario and its expectation", "[faults]") {
  std::set<std::string> tested;
  for (const Expected& expected : expectations()) tested.insert(expected.fault);
  const std::vector<std::string> names = loco::scenario::fault_names();
  CHECK(tested == std::set<std::string>(names.begin(), names.end()));
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(path_of(name)));
    CHECK_FALSE(loco::scenario::fault_description(name).empty());
  }
}

TEST_CASE("without its fault a scenario is consistent under many seeds", "[faults]") {
  const Expected expected = GENERATE(from_range(expectations()));
  INFO("replay: loco-sim run scenarios/faults/" << expected.fault
                                                << ".yaml --set faults=[] --set workload.iterations=10 --seed N");
  CHECK(first_bad_seed(expected.fault, 50) == 0);
}

TEST_CASE("without its fault a scenario is consistent under 10,000 seeds", "[.long]") {
  const Expected expected = GENERATE(from_range(expectations()));
  INFO("replay: loco-sim run scenarios/faults/" << expected.fault
                                                << ".yaml --set faults=[] --set workload.iterations=10 --seed N");
  CHECK(first_bad_seed(expected.fault, 10'000) == 0);
}
