// LOCO on simulated hardware, from the scenario to the result: operations of a key-value store, and barriers.
//
//   bench_loco --benchmark_min_time=2
//
// items_per_second is operations a second of CPU time, set-up included.
//
//   bench_loco --benchmark_filter=rounds/1024
//
// rounds: wall time of setting up a barrier, of its first round, in which the queue pairs are made, and of the fastest
// of four later ones, each from the first call to the last return; how much the process has grown at most, a node. One
// size a process: the largest size of a process never goes down again.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <utility>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/run/run.hpp"
#include "loco_sim/transport/cluster.hpp"

namespace {

void run(benchmark::State& state, const std::string& text) {
  const loco::scenario::Scenario scenario = loco::scenario::parse_scenario(text, "bench_loco");
  std::uint64_t done = 0;
  for (auto _ : state) done += loco::run(scenario).operations_done;
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
}

/// 80,000 operations of 4 nodes with 2 threads. The argument is the window.
void kvstore(benchmark::State& state, const std::string& mix, const std::string& check) {
  run(state,
      "hardware: cx5-roce-25g\n"
      "topology: {kind: star, nodes: 4}\n"
      "workload: {kind: kvstore, threads_per_node: 2, iterations: 10000, window: " +
          std::to_string(state.range(0)) + ", mix: " + mix + "}\ncheck: " + check + "\n");
}

/// 10 rounds of nodes with one thread each. The argument is how many nodes.
void barrier(benchmark::State& state) {
  run(state, "hardware: cx5-roce-25g\ntopology: {kind: star, nodes: " + std::to_string(state.range(0)) +
                 "}\nworkload: {kind: barrier, iterations: 10}\ncheck: []\n");
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double largest_kb() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss);
}

/// How much the process has grown at most since then, a node.
double grown_kb_a_node(double before_kb, std::int64_t nodes) {
  return (largest_kb() - before_kb) * 1.024 / static_cast<double>(nodes);
}

/// When the first node has called, and the last has returned.
struct Span {
  double begin = 0;
  double end = 0;
};

void rounds(benchmark::State& state, loco::barrier_options::Fence fence) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const loco::scenario::Scenario s =
      loco::scenario::parse_scenario("hardware: cx5-roce-25g\ntopology: {kind: star, nodes: " + std::to_string(nodes) +
                                         "}\nworkload: {kind: barrier}\ncheck: []\n",
                                     "bench_loco");
  for (auto _ : state) {
    const double before_kb = largest_kb();
    const double start = seconds();
    loco::ClusterConfig config;
    config.profile = s.hardware;
    config.topology = s.topology;
    config.network = s.network;
    config.nodes = nodes;
    loco::SimulatedCluster cluster(std::move(config));
    std::array<Span, 5> spans;
    cluster.spawn_everywhere([&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::barrier bar(mgr, "bar", {.fence = fence});
      mgr.wait_for_ready();
      for (Span& span : spans) {
        if (span.begin == 0) span.begin = seconds();
        bar.waiting();
        span.end = seconds();
      }
    });
    cluster.run();
    state.counters["setup_s"] = spans[0].begin - start;
    state.counters["first_round_s"] = spans[0].end - spans[0].begin;
    double fastest = spans[1].end - spans[1].begin;
    for (std::size_t i = 2; i < spans.size(); ++i) fastest = std::min(fastest, spans[i].end - spans[i].begin);
    state.counters["round_s"] = fastest;
    state.counters["kB_a_node"] = grown_kb_a_node(before_kb, nodes);
  }
}

/// A key-value store of many nodes, 20 operations of each: how long it takes altogether, and how much the process
/// grows.
void kvstore_of_many(benchmark::State& state) {
  const double before_kb = largest_kb();
  run(state, "hardware: cx5-roce-25g\ntopology: {kind: star, nodes: " + std::to_string(state.range(0)) +
                 "}\nworkload: {kind: kvstore, iterations: 20}\ncheck: []\n");
  state.counters["kB_a_node"] = grown_kb_a_node(before_kb, state.range(0));
}

void many_nodes(benchmark::internal::Benchmark* rounds) {
  rounds->Arg(64)->Arg(256)->Arg(512)->Arg(1024)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);
}

}  // namespace

BENCHMARK_CAPTURE(kvstore, read, "read", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, mixed, "mixed", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, write, "write", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, mixed_checked, "mixed", "[rdmawait, sv, bal, rbl, lock, kvstore]")
    ->Arg(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(kvstore_of_many)->Arg(32)->Arg(128)->Arg(256)->Arg(512)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK(barrier)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rounds, fence, loco::barrier_options::Fence::all_nodes)->Apply(many_nodes);
BENCHMARK_CAPTURE(rounds, no_fence, loco::barrier_options::Fence::none)->Apply(many_nodes);

BENCHMARK_MAIN();
