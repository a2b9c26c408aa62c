// Which scenarios run in parts (sim.threads, docs/parallel-runs.md): that their results are those of one thread is in
// tests/loco_sim/cli/test_parallel_runs.py.
#include "loco_sim/run/parallel.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "nic_model/parts.hpp"
#include "tests/catch.hpp"

using namespace loco;

namespace {

/// What a scenario of this fabric and workload is run with.
struct Case {
  Case(const std::string& fabric, const std::string& workload, const std::string& more = "")
      : scenario(scenario::parse_scenario(
            fmt::format("name: parted\nhardware: {{base: cx5-roce-100g, link: {{delay: 2us}}}}\n"
                        "topology: {{kind: fat_tree, k: 4}}\nfabric: {}\nworkload: {}\ntrace: {{level: none}}\n{}\n",
                        fabric, workload, more),
            "parted.yaml")) {
    config.profile = scenario.hardware;
    config.hosts = scenario.hosts;
    config.topology = scenario.topology;
    config.network = scenario.network;
    config.nodes = scenario.nodes;
    config.schedule = scenario.schedule;
    config.congestion = scenario.congestion;
    config.record = scenario.trace_subevents;
    config.send_queue_entries =
        std::max(config.send_queue_entries,
                 workloads::send_queue_entries(*workloads::find(scenario.workload), scenario.parameters));
  }
  [[nodiscard]] std::string why_not() const { return std::string(one_thread_because(scenario, config)); }
  [[nodiscard]] std::size_t parts(std::uint32_t threads) const {
    const std::vector<std::uint8_t> of = nic::parts_of(machine_of(config), threads);
    return of.empty() ? 1 : *std::ranges::max_element(of) + std::size_t{1};
  }

  /// Runs to its end in so many parts: one thread is not asked for what went wrong.
  void check_ends_in_parts(std::uint32_t threads) {
    scenario.threads = threads;
    REQUIRE(parts(threads) == threads);
    const std::optional<ParallelRun> run = run_in_parallel(scenario, config);
    REQUIRE(run);
    for (const workloads::Results& measured : run->measured) {
      CHECK(measured.operations_done() > 0);
      CHECK(measured.broken().empty());
    }
  }

  scenario::Scenario scenario;
  ClusterConfig config;
};

constexpr const char* kFlows = "{kind: flows, pattern: permutation, size: 10kB}";

}  // namespace

TEST_CASE("flows, traffic and collectives run in parts, over whatever network of packets") {
  for (const char* workload :
       {kFlows, "{kind: traffic, pattern: all_to_all, size: 1KiB, count: 1}", "{kind: all_reduce, size: 16KiB}",
        "{kind: all_reduce, algorithm: halving_doubling, size: 16KiB, iterations: 3}",
        "{kind: all_to_all, size: 16KiB}", "{kind: broadcast, algorithm: binomial, size: 4KiB}"}) {
    Case c("{routing: ecmp}", workload);
    INFO(workload);
    CHECK(c.why_not() == "");
    c.check_ends_in_parts(2);
  }
  for (const char* fabric :
       {"{congestion: {algorithm: hpcc}}", "{flow_control: drop_tail, buffer: {size: 20kB}, trim: {enabled: true}}",
        "{flow_control: pfc, buffer: {size: 4MB}, classes: [{id: 6, schedule: strict}]}",
        "{reroute: true, failures: [{link: [s0, s8], down: 3us, up: 9us}]}",
        "{flow_control: pfc, buffer: {size: 4MB}, failures: [{host: h2, pauses: 3us, until: 30us}]}"}) {
    Case c(fabric, kFlows);
    INFO(fabric);
    CHECK(c.why_not() == "");
    c.check_ends_in_parts(2);
  }
}

TEST_CASE("what meets in the simulating program, or tells a story in one order, runs on one thread") {
  CHECK(Case("{}", "{kind: barrier}").why_not().starts_with("its threads meet"));
  CHECK(Case("{}", "{kind: broadcast}").why_not().starts_with("threads of LOCO's objects"));
  CHECK(
      Case("{}", "{kind: flows, pattern: permutation, size: 50kB, operation: send}").why_not().starts_with("flows of"));
  CHECK(Case("{}", "{kind: all_reduce, size: 1MiB}", "sim: {fast_forward: exact}").why_not().starts_with("rounds"));
  CHECK(Case("{}", kFlows, "schedule: random").why_not().starts_with("the schedule"));
  CHECK(Case("{model: flow}", kFlows).why_not().starts_with("the flow model"));
}
