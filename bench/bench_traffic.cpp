// Traffic as scenarios say it, on whole hosts with PCIe and memory: data packets a second of CPU time.
//   bench_traffic [NAME]...      all of them without an argument
// Ratios of two lines of one run are what is compared: with classes, and by hierarchical collectives, against without.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <string_view>

#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"

using namespace loco;

namespace {

struct Case {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kCases = {
    Case{"permutation_128", R"(
topology: {kind: fat_tree, k: 8}
fabric: {routing: ecmp, flow_control: pfc}
workload: {kind: flows, pattern: permutation, size: 4MB, ideal: base_rtt})"},
    Case{"permutation_128_classes", R"(
topology: {kind: fat_tree, k: 8}
fabric: {routing: ecmp, flow_control: pfc, buffer: {size: 24MB}, classes: [{id: 3, schedule: {weight: 3}}]}
workload: {kind: flows, pattern: permutation, size: 4MB, ideal: base_rtt, class: 3})"},
    Case{"permutation_128_hpcc", R"(
topology: {kind: fat_tree, k: 8}
fabric: {routing: ecmp, flow_control: pfc, congestion: {algorithm: hpcc}}
workload: {kind: flows, pattern: permutation, size: 4MB, ideal: base_rtt})"},
    Case{"permutation_1024", R"(
topology: {kind: fat_tree, k: 16}
fabric: {routing: ecmp, flow_control: pfc, buffer: {size: 24MB}}
workload: {kind: flows, pattern: permutation, size: 500kB, ideal: base_rtt})"},
    Case{"all_reduce_128", R"(
topology: {kind: star, nodes: 128}
workload: {kind: all_reduce, algorithm: ring, size: 16MiB, iterations: 1, warmup: 1})"},
    Case{"all_reduce_128_hierarchical", R"(
topology: {kind: star, nodes: 128}
workload: {kind: all_reduce, algorithm: hierarchical, group: 8, size: 16MiB, iterations: 1, warmup: 1})"},
};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

bool measure(const Case& c) {
  const std::string text =
      "hardware: {base: cx5-roce-100g, link: {mtu: 4096}}\ntrace: {level: none}" + std::string(c.text);
  const scenario::Scenario scenario = scenario::parse_scenario(text, std::string(c.name));
  const double begin = cpu_seconds();
  const RunResult result = run(scenario);
  const double cpu = cpu_seconds() - begin;
  const auto packets = static_cast<double>(result.counters.packets_sent);
  const auto events = static_cast<double>(result.counters.events);
  std::printf("%-28s %.2f s of CPU, start and end included; %.0f k packets/s, answers among them; %.0f ns a step\n",
              std::string(c.name).c_str(), cpu, packets / cpu * 1e-3, cpu / events * 1e9);
  for (const std::string& broken : result.broken) std::printf("  %s\n", broken.c_str());
  return result.broken.empty();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bool good = true;
    for (const Case& c : kCases) {
      const bool wanted = std::any_of(argv + 1, argv + argc, [&](const char* name) { return name == c.name; });
      if (argc == 1 || wanted) good = measure(c) && good;
    }
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_traffic: %s\n", error.what());
    return 1;
  }
}
