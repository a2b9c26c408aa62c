// Every litmus document of tests/litmus under exploration and sampling on model-weak.
#include "tests/model/litmus/corpus.hpp"

#include <algorithm>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/in_order.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "tests/catch.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

std::vector<Outcome> allowed_by(const Program& program) {
  model::litmus::Options options;
  options.outcomes_only = true;
  return enumerate(program, options).outcomes;
}

bool has(const std::vector<Outcome>& outcomes, const Outcome& o) {
  return std::binary_search(outcomes.begin(), outcomes.end(), o);
}

/// All but coreRMA's, and but those that ask for the final value of a mixed-size variable (engines_test.cpp has one):
/// in memory it may be torn. Of one file, or of all of them.
std::vector<Program> runnable(const std::string& file = {}) {
  std::vector<Program> programs;
  for (Program& p : model::litmus::test::corpus()) {
    const bool wanted =
        p.file.size() >= file.size() && p.file.compare(p.file.size() - file.size(), file.size(), file) == 0;
    const bool tuple = std::any_of(p.observables.begin(), p.observables.end(), [&](const auto& o) {
      return o.location != model::litmus::kNone &&
             at(p.locations, o.location).kind == model::litmus::LocationKind::tuple;
    });
    if (wanted && !tuple && !model::litmus::is_corerma(p.model)) programs.push_back(std::move(p));
  }
  return programs;
}

}  // namespace

TEST_CASE("the paper's tests come out right under exploration and sampling") {
  for (const Program& program : runnable("loco-paper.yaml")) {
    INFO(program.name);
    const explore::Machine machine(model::litmus::implement(program), nic::HardwareProfile{});
    const auto explored = explore::explore(machine);
    CHECK(explored.complete);
    CHECK_FALSE(explored.outcomes.empty());
    for (const auto& expected : program.allowed) {
      CHECK(std::any_of(explored.outcomes.begin(), explored.outcomes.end(),
                        [&](const Outcome& o) { return model::litmus::matches(expected, o); }));
    }
    for (const auto& bad : program.forbidden) {
      CHECK(std::none_of(explored.outcomes.begin(), explored.outcomes.end(),
                         [&](const Outcome& o) { return model::litmus::matches(bad, o); }));
    }
    const auto allowed = allowed_by(program);
    for (const Outcome& o : explored.outcomes) CHECK(has(allowed, o));
    for (const auto& s : explore::sample(machine, 2000, 1).outcomes) CHECK(has(explored.outcomes, s.outcome));
  }
}

TEST_CASE("the corpus: explored is allowed, exactly but for in-order completion; sampling covers it") {
  std::size_t possible = 0;
  std::size_t sampled = 0;
  std::size_t turn = 0;
  for (const Program& program : runnable()) {
    if (turn++ % loco::test::kShare != 0) continue;
    INFO(program.file << ": " << program.name);
    const explore::Machine machine(model::litmus::implement(program), nic::HardwareProfile{});
    const bool base = program.model != "loco";
    // Programs over libraries become large; for them a part of the executions has to do.
    const auto explored = explore::explore(machine, {.max_executions = base ? 0U : 20'000U});
    const auto allowed = allowed_by(program);
    for (const Outcome& o : explored.outcomes) CHECK(has(allowed, o));
    if (base) {
      CHECK(explored.complete);
      const auto excluded = explore::excluded_by_in_order(program, program.model);
      for (const Outcome& o : allowed) {
        INFO(program.text(o));
        CHECK(has(explored.outcomes, o) != has(excluded, o));
      }
    }
    if (turn % 3 != 0 && !loco::test::all_cases()) continue;
    for (const auto& s : explore::sample(machine, 2000, 1).outcomes) {
      CHECK(has(allowed, s.outcome));
      if (has(explored.outcomes, s.outcome)) ++sampled;
    }
    possible += explored.outcomes.size();
  }
  INFO(sampled << " of " << possible << " outcomes sampled");
  CHECK(sampled * 100 >= possible * 95);
}
