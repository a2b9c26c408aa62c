// explore_hardware PROFILE FILE... : which outcomes of litmus documents a profile rules out, and by which mechanism.
//
// Explores every program on model-weak, on PROFILE, and on model-weak with one of PROFILE's mechanisms at a time. A
// mechanism is a field, or a group of fields that mean something together. Prints Markdown: docs/exploring-results.md.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <string>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/implementations.hpp"
#include "model/litmus/parser.hpp"
#include "nic_model/profile_fields.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

constexpr std::chrono::milliseconds kTimeEach{20'000};

struct Mechanism {
  std::string name;
  nic::HardwareProfile profile;  // model-weak with this mechanism
};

std::vector<Mechanism> mechanisms(const nic::HardwareProfile& weak, const nic::HardwareProfile& real) {
  // Costs and rates only move the clock, which exploration does not look at: one group for all of them.
  std::vector<Mechanism> all;
  Mechanism costs{"costs and rates", weak};
  Mechanism sizes{"TLP and packet sizes", weak};
  for (const nic::ProfileField& f : nic::kProfileFields) {
    const std::int64_t v = value(real, f);
    if (v == value(weak, f)) continue;
    if (f.unit == nic::UnitKind::duration || f.unit == nic::UnitKind::rate) {
      set_value(costs.profile, f, v);
    } else if (f.unit == nic::UnitKind::size) {
      set_value(sizes.profile, f, v);
    } else {
      all.push_back({fmt::format("`{}`", f.key), weak});
      set_value(all.back().profile, f, v);
      if (f.key == "nic.blueflame") all.back().profile.nic_inline_max = real.nic_inline_max;
    }
  }
  all.push_back(costs);
  all.push_back(sizes);
  return all;
}

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
             const std::vector<Mechanism>& all, Totals& totals) {
  const Program program = model::litmus::implement(document);
  const auto possible = run(program, weak);
  const auto shown = run(program, real);
  if (!possible.complete || !shown.complete) {
    ++totals.cut_short;
    fmt::print("| {} | | search cut short after {} states |\n", document.name, shown.states);
    return;
  }
  ++totals.tests;
  totals.possible += possible.outcomes.size();
  for (const Outcome& o : shown.outcomes) totals.not_weak += has(possible.outcomes, o) ? 0U : 1U;
  std::map<std::string, explore::ExploreResult> one_at_a_time;
  for (const Outcome& o : possible.outcomes) {
    if (has(shown.outcomes, o)) continue;
    ++totals.ruled_out;
    std::string by;
    for (const Mechanism& m : all) {
      if (one_at_a_time.count(m.name) == 0) one_at_a_time[m.name] = run(program, m.profile);
      const auto& r = one_at_a_time[m.name];
      if (!r.complete || has(r.outcomes, o)) continue;
      by += (by.empty() ? "" : " or ") + m.name;
    }
    if (by.empty()) by = "several together";
    ++totals.by[by];
    fmt::print("| {} | {} | {} |\n", document.name, program.text(o), by);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: explore_hardware PROFILE FILE...\n");
    return 2;
  }
  const nic::HardwareProfile weak = scenario::load_hardware("model-weak").profile;
  const nic::HardwareProfile real = scenario::load_hardware(argv[1]).profile;
  const auto all = mechanisms(weak, real);
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
