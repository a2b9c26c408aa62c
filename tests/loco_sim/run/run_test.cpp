// Running a scenario: determinism, summaries, errors.
#include "loco_sim/run/run.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "loco_sim/run/result_bytes.hpp"
#include "tests/catch.hpp"
#include "trace/file.hpp"

using loco::test::contains_text;

namespace {

loco::scenario::Scenario parse_text(const std::string& text) { return loco::scenario::parse_scenario(text, "test.yaml"); }

const std::string kMix = "workload: {kind: quickstart, iterations: 3}\ntopology: {nodes: 3}\n";

}  // namespace

TEST_CASE("percentiles are by nearest rank", "[run]") {
  const loco::LatencySummary s = loco::summarise({50, 10, 40, 20, 30});
  CHECK(s.count == 5);
  CHECK(s.min_ps == 10);
  CHECK(s.median_ps == 30);
  CHECK(s.p99_ps == 50);
  CHECK(s.max_ps == 50);
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 1; i <= 200; ++i) hundred.push_back(i);
  CHECK(loco::summarise(hundred).median_ps == 100);
  CHECK(loco::summarise(hundred).p99_ps == 198);
  CHECK(loco::summarise({}).count == 0);
}

TEST_CASE("a run is a function of scenario and seed", "[run]") {
  loco::scenario::Scenario scenario = parse_text(kMix + "schedule: random\nhardware: model-weak\n");
  const std::string first = loco::trace::encode_trace(*loco::run(scenario).trace);
  CHECK(loco::trace::encode_trace(*loco::run(scenario).trace) == first);
  scenario.seed = 2;
  CHECK(loco::trace::encode_trace(*loco::run(scenario).trace) != first);
}

TEST_CASE("runs in several threads do not meet", "[run]") {
  const loco::scenario::Scenario scenario = parse_text(kMix);
  const std::string alone = loco::trace::encode_trace(*loco::run(scenario).trace);
  std::vector<std::string> traces(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& trace : traces)
      threads.emplace_back([&] { trace = loco::trace::encode_trace(*loco::run(scenario).trace); });
  }
  for (const std::string& trace : traces) CHECK(trace == alone);
}

TEST_CASE("nothing is recorded when nobody asks, and times do not depend on it", "[run]") {
  const loco::RunResult bare = loco::run(parse_text(kMix + "check: []\n"));
  CHECK_FALSE(bare.trace);
  CHECK_FALSE(bare.verdict);
  CHECK(bare.consistent());
  const loco::RunResult recorded = loco::run(parse_text(kMix));
  CHECK(recorded.trace);
  REQUIRE(recorded.operations.size() == bare.operations.size());
  for (std::size_t i = 0; i < bare.operations.size(); ++i)
    CHECK(recorded.operations[i].samples_ps == bare.operations[i].samples_ps);
  CHECK(loco::run(parse_text(kMix + "check: []\n"), {.interrupted = {}, .keep_trace = true}).trace);
}

TEST_CASE("a trace and the counters say of a run what the scenario does", "[run]") {
  loco::scenario::Scenario scenario = parse_text("name: mix\n" + kMix + "hardware: cx5-roce-25g\n");
  scenario.seed = 7;
  const loco::RunResult real = loco::run(scenario);
  CHECK(real.trace->scenario == "mix");
  CHECK(real.trace->seed == 7);
  CHECK(real.trace->activities.empty());
  CHECK_FALSE(loco::run(parse_text(kMix + "trace: {level: packets}\n")).trace->activities.empty());
  // An ideal network has no links that could count anything.
  const auto counts_packets = [](const loco::RunResult& r) {
    return std::ranges::count(r.workload_counters.names(), "fabric_packets_delivered") != 0;
  };
  CHECK(counts_packets(real));
  CHECK_FALSE(counts_packets(loco::run(parse_text(kMix + "hardware: model-weak\n"))));
}

TEST_CASE("a result is the same in bytes and back, and a part of them is none", "[run]") {
  loco::RunResult result;
  result.operations = {{"get", {3, 4}, {5, 9}}};
  result.operations_done = 2;
  result.measured_ps = 8;
  result.simulated_ps = 10;
  result.counters.completions = 11;
  result.workload_counters.add(result.workload_counters.id("torn"), 12);
  result.broken = {"torn: 12"};
  const std::string bytes = loco::to_bytes(result);
  const loco::RunResult back = loco::result_from_bytes(bytes);
  REQUIRE(back.operations.size() == 1);
  CHECK(back.operations[0].name == "get");
  CHECK(back.operations[0].samples_ps == std::vector<std::int64_t>{3, 4});
  CHECK(back.operations[0].ends_ps == std::vector<std::int64_t>{5, 9});
  CHECK(back.operations_done == 2);
  CHECK(back.measured_ps == 8);
  CHECK(back.simulated_ps == 10);
  CHECK(back.counters.completions == 11);
  CHECK(back.workload_counters.value("torn") == 12);
  CHECK(back.broken == result.broken);
  CHECK_FALSE(back.trace);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_WITH(loco::result_from_bytes(std::string_view(bytes).substr(0, size)), contains_text("cut short"));
  CHECK_THROWS_WITH(loco::result_from_bytes(bytes + '\0'), contains_text("followed by others"));
}

TEST_CASE("the tower is checked where a scenario asks for it", "[run]") {
  // A barrier that notifies without fencing (LOCO paper, Appendix D) breaks the promise of its aGF.
  const std::string broken =
      "hardware: model-weak\ntopology: {nodes: 3}\nschedule: adversarial\nfaults: [barrier_without_fence]\n"
      "workload: {kind: pattern, pattern: barrier_third_node, iterations: 300}\n";
  const auto promises = [&](const char* check) {
    const loco::RunResult r = loco::run(parse_text(broken + check));
    return r.verdict->to_text().find("promise: ") != std::string::npos;
  };
  CHECK(promises("check: [rdmawait, sv, bal, tower]\n"));
  CHECK_FALSE(promises("check: [rdmawait, sv, bal]\n"));
  CHECK(loco::run(parse_text(kMix + "check: [rdmawait, sv, bal, tower]\n")).consistent());
}

TEST_CASE("a run that goes on too long, or is stopped, says so", "[run]") {
  CHECK_THROWS_WITH(loco::run(parse_text(kMix + "limits: {events: 100}\n")), contains_text("seed 1"));
  CHECK_THROWS_AS(loco::run(parse_text(kMix + "limits: {events: 100}\n")), loco::RunError);
  loco::RunOptions options;
  options.interrupted = [] { return true; };
  CHECK_THROWS_AS(loco::run(parse_text("workload: {kind: barrier, iterations: 100000}\n"), options), loco::Interrupted);
}
