// explore_hardware PROFILE FILE... : which outcomes of litmus documents a profile rules out, and by which mechanism.
//
// Prints Markdown: docs/exploring-results.md. How: loco_sim/explore/ruled_out.hpp.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <string>

#include "loco_sim/explore/ruled_out.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/language/parser.hpp"
#include "text/shown.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

constexpr std::chrono::milliseconds kTimeEach{20'000};

explore::ExploreResult run(const Program& program, const nic::HardwareProfile& profile) {
  return explore::explore(explore::Machine(program, profile), {.max_time = kTimeEach});
}

bool has(const std::vector<Outcome>& outcomes, const Outcome& o) {
  return std::binary_search(outcomes.begin(), outcomes.end(), o);
}

struct Totals {
  int tests = 0;
  int cut_short = 0;
  std::size_t possible = 0;
  std::size_t ruled_out = 0;
  std::size_t not_weak = 0;
  std::map<std::string, std::size_t> by;
};

void compare(const Program& document, const nic::HardwareProfile& weak, const nic::HardwareProfile& real,
             const std::vector<explore::Mechanism>& all, Totals& totals) {
  const Program program = model::litmus::implement(document);
  const auto shown = run(program, real);
  const auto compared = explore::ruled_out([&](const nic::HardwareProfile&) { return program; }, shown.outcomes, weak,
                                           all, {.max_time = kTimeEach});
  if (!compared.complete || !shown.complete) {
    ++totals.cut_short;
    fmt::print("| {} | | search cut short after {} states |\n", document.name, shown.states);
    return;
  }
  ++totals.tests;
  totals.possible += compared.possible.size();
  for (const Outcome& o : shown.outcomes) totals.not_weak += has(compared.possible, o) ? 0U : 1U;
  totals.ruled_out += compared.ruled_out.size();
  for (const explore::RuledOut& r : compared.ruled_out) {
    std::string by;
    for (const std::string& m : r.by) by += (by.empty() ? "`" : " or `") + m + "`";
    if (by.empty()) by = "several together";
    ++totals.by[by];
    fmt::print("| {} | {} | {} |\n", document.name, program.text(r.outcome), by);
  }
}

int run(int argc, char** argv) {
  const nic::HardwareProfile weak = scenario::load_hardware("model-weak").profile;
  const nic::HardwareProfile real = scenario::load_hardware(argv[1]).profile;
  const auto all = explore::mechanisms(weak, real);
  Totals totals;
  fmt::print("| test | outcome | ruled out by |\n|---|---|---|\n");
  for (int i = 2; i < argc; ++i) {
    for (const Program& p : model::litmus::parse_file(argv[i])) {
      if (!model::litmus::is_corerma(p.model)) compare(p, weak, real, all, totals);
    }
  }
  fmt::print("\n{} tests: of {} outcomes on model-weak, {} rules out {}; {} outcomes that model-weak lacks.\n",
             totals.tests, totals.possible, argv[1], totals.ruled_out, totals.not_weak);
  fmt::print("{} tests were cut short at {} s and are not counted.\n\n| mechanism | outcomes |\n|---|---|\n",
             totals.cut_short, kTimeEach.count() / 1000);
  for (const auto& [by, n] : totals.by) fmt::print("| {} | {} |\n", by, n);
  return totals.not_weak == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* kUsage = "Usage: explore_hardware PROFILE FILE...\n";
  for (int i = 1; i < argc; ++i) {
    if (const std::string_view word = argv[i]; word == "-h" || word == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
  }
  if (argc < 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", text::shown(error.what()).c_str());
    return 2;
  }
}
