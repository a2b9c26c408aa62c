// LOCO on simulated hardware, from the scenario to the result: operations of a key-value store, and barriers.
//
//   bench_loco --benchmark_min_time=2
//
// items_per_second is operations a second of CPU time, set-up included.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <string>

#include "loco_sim/run/run.hpp"

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

}  // namespace

BENCHMARK_CAPTURE(kvstore, read, "read", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, mixed, "mixed", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, write, "write", "[]")->Arg(3)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(kvstore, mixed_checked, "mixed", "[rdmawait, sv, bal, rbl, lock, kvstore]")
    ->Arg(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(barrier)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
