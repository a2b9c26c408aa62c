// The declarative litmus engine on one core: tests a second over the corpus, executions a second on families that
// scale (store buffering and message passing, the families of GenMC's own figures), and what symmetries are worth.
//
//   bench_litmus                       tests/litmus is the corpus; items_per_second are tests, or executions
#include <algorithm>
#include <benchmark/benchmark.h>
#include <filesystem>
#include <string>
#include <vector>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/search/search.hpp"

namespace {

namespace litmus = loco::model::litmus;

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LITMUS_CORPUS))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<litmus::Program> corpus() {
  std::vector<litmus::Program> programs;
  for (const std::string& f : corpus_files())
    for (litmus::Program& p : litmus::parse_file(f)) programs.push_back(std::move(p));
  return programs;
}

void corpus_enumerate(benchmark::State& state) {
  const std::vector<litmus::Program> programs = corpus();
  std::int64_t tests = 0;
  for (auto _ : state) {
    for (const litmus::Program& p : programs) benchmark::DoNotOptimize(litmus::enumerate(p).ok);
    tests += static_cast<std::int64_t>(programs.size());
  }
  state.SetItemsProcessed(tests);
}
BENCHMARK(corpus_enumerate);

void corpus_parse(benchmark::State& state) {
  const std::vector<std::string> files = corpus_files();
  std::int64_t tests = 0;
  for (auto _ : state)
    for (const std::string& f : files) tests += static_cast<std::int64_t>(litmus::parse_file(f).size());
  state.SetItemsProcessed(tests);
}
BENCHMARK(corpus_parse);

void corpus_parse_and_enumerate(benchmark::State& state) {
  const std::vector<std::string> files = corpus_files();
  std::int64_t tests = 0;
  for (auto _ : state)
    for (const std::string& f : files)
      for (const litmus::Program& p : litmus::parse_file(f)) {
        benchmark::DoNotOptimize(litmus::enumerate(p).ok);
        ++tests;
      }
  state.SetItemsProcessed(tests);
}
BENCHMARK(corpus_parse_and_enumerate);

std::string locations(int n) {
  std::string s = "model: rdmawait\nlocations: {";
  for (int i = 0; i < n; ++i) s += (i > 0 ? ", x" : "x") + std::to_string(i) + ": {node: 1}";
  return s + "}\nthreads:\n";
}

/// n threads in a ring: x_i = 1; r_i = x_(i+1). 2^n consistent executions.
std::string store_buffering(int n) {
  std::string s = locations(n);
  for (int i = 0; i < n; ++i)
    s += "  - {node: 1, code: \"x" + std::to_string(i) + " = 1; r" + std::to_string(i) + " = x" +
         std::to_string((i + 1) % n) + "\"}\n";
  return s;
}

/// A writer of x_0 .. x_(n-1) and a reader in the opposite order: n + 1 executions a reader.
std::string message_passing(int n, int readers) {
  std::string s = locations(n);
  s += "  - {node: 1, code: \"";
  for (int i = 0; i < n; ++i) s += (i > 0 ? "; x" : "x") + std::to_string(i) + " = 1";
  s += "\"}\n";
  for (int r = 0; r < readers; ++r) {
    s += "  - {node: 1, code: \"";
    for (int i = n - 1; i >= 0; --i)
      s += "r" + std::to_string(r) + "_" + std::to_string(i) + " = x" + std::to_string(i) + (i > 0 ? "; " : "\"}\n");
  }
  return s;
}

/// n threads on two nodes, each putting to the next one's node and reading its own location after a wait.
std::string put_ring(int n) {
  std::string s = "model: rdmawait\nlocations: {";
  for (int i = 0; i < n; ++i)
    s += (i > 0 ? ", x" : "x") + std::to_string(i) + ": {node: " + std::to_string(1 + i % 2) + "}";
  s += "}\nthreads:\n";
  for (int i = 0; i < n; ++i)
    s += "  - {node: " + std::to_string(1 + i % 2) + ", code: \"put(x" + std::to_string((i + 1) % n) +
         ", 1) as d; wait(d); r" + std::to_string(i) + " = x" + std::to_string(i) + "\"}\n";
  return s;
}

void executions(benchmark::State& state, const std::string& document) {
  const litmus::Program p = litmus::parse_text(document, "family").front();
  litmus::Options options;
  options.counted_max = 0;
  std::int64_t found = 0;
  for (auto _ : state) found += static_cast<std::int64_t>(litmus::enumerate(p, options).executions);
  state.SetItemsProcessed(found);
  state.counters["executions"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}

void store_buffering_family(benchmark::State& state) {
  executions(state, store_buffering(static_cast<int>(state.range(0))));
}
BENCHMARK(store_buffering_family)->DenseRange(4, 14, 2);

void message_passing_family(benchmark::State& state) {
  executions(state, message_passing(4, static_cast<int>(state.range(0))));
}
BENCHMARK(message_passing_family)->DenseRange(2, 6);

void put_ring_family(benchmark::State& state) { executions(state, put_ring(static_cast<int>(state.range(0)))); }
BENCHMARK(put_ring_family)->DenseRange(4, 12, 2);

/// n threads that read a location and write one more: a symmetric program. Argument 1: are symmetries used?
void counter_family(benchmark::State& state) {
  std::string document = locations(1);
  for (int i = 0; i < state.range(0); ++i) {
    const std::string r = "r" + std::to_string(i);
    document += "  - {node: 1, code: \"" + r + " = x0; x0 = " + r + " + 1\"}\n";
  }
  const litmus::Program p = litmus::parse_text(document + "final: [x0]\n", "family").front();
  litmus::SearchOptions options;
  if (state.range(1) == 0) options.symmetry_after = litmus::kNoSymmetry;
  std::int64_t found = 0;
  for (auto _ : state)
    found += static_cast<std::int64_t>(litmus::search(p, *litmus::find_model(p.model), options).executions);
  state.SetItemsProcessed(found);
  state.counters["executions"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}
BENCHMARK(counter_family)->ArgsProduct({{3, 4, 5, 6}, {0, 1}});

}  // namespace

BENCHMARK_MAIN();
