// Exploration and sampling of the paper's litmus tests: bench_explore [FILE]
#include <benchmark/benchmark.h>
#include <cstdio>
#include <string>
#include <vector>

#include "loco_sim/explore/explore.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/language/parser.hpp"

using namespace loco;

namespace {

void explore_one(benchmark::State& state, const explore::Machine& machine) {
  std::uint64_t states = 0;
  for (auto _ : state) states += explore::explore(machine).states;
  state.counters["states/s"] = benchmark::Counter(static_cast<double>(states), benchmark::Counter::kIsRate);
}

void sample_one(benchmark::State& state, const explore::Machine& machine) {
  constexpr std::uint64_t kRuns = 2000;
  std::uint64_t runs = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(explore::sample(machine, kRuns, 1));
    runs += kRuns;
  }
  state.counters["runs/s"] = benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string file = argc > 1 ? argv[1] : "tests/litmus/loco-paper.yaml";
  std::vector<explore::Machine> machines;
  try {
    for (const auto& p : model::litmus::parse_file(file)) {
      if (model::litmus::is_corerma(p.model)) continue;
      machines.emplace_back(model::litmus::implement(p), nic::HardwareProfile{});
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
  for (const auto& machine : machines) {
    const std::string name = machine.program().name;
    benchmark::RegisterBenchmark(("explore/" + name).c_str(), [&](auto& state) {
      explore_one(state, machine);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("sample/" + name).c_str(), [&](auto& state) {
      sample_one(state, machine);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
