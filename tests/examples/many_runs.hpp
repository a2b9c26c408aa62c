// Runs of an example, each with a state of its own: on threads, on threads that nothing orders but what verbs order,
// and on the simulated machine that is as weak as the memory model, under schedules drawn from seeds, random and
// adversarial by turns. A Run is a program for all nodes; made from options, it says with wrong() what has gone wrong,
// if anything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/loco_sim/engines/engine_transport.hpp"
#include "tests/loco_sim/loco/both.hpp"

namespace loco::test {

inline Schedule schedule_of(std::uint64_t seed) { return seed % 2 == 0 ? Schedule::random : Schedule::adversarial; }

/// All of them are right, and consistent at every level.
template <typename Run>
void right_on_many_schedules(std::uint32_t nodes, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO(nodes << " nodes, seed " << seed);
    Run run;
    const model::Verdict verdict = on_simulator(nodes, std::ref(run), schedule_of(seed), seed, seed % 10 == 0);
    INFO(verdict.to_text());
    REQUIRE(verdict.consistent());
    REQUIRE(run.wrong().empty());
  }
}

template <typename Run>
void right_on_threads(std::uint32_t nodes, int times) {
  for (int i = 0; i < times; i += int(kShare)) {
    for (const WordOrder words : {WordOrder::whole, WordOrder::last_first}) {
      Run run;
      on_threads(nodes, std::ref(run), words);
      REQUIRE(run.wrong().empty());
    }
    Run unordered;
    EngineCluster(nodes).run(std::ref(unordered));
    REQUIRE(unordered.wrong().empty());
  }
}

/// The error of the first run that has one; empty: all are right.
template <typename Run, typename Options>
std::string first_wrong(std::uint32_t nodes, std::uint64_t seeds, const Options& options) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Run run(options);
    on_simulator(nodes, std::ref(run), schedule_of(seed), seed);
    if (!run.wrong().empty()) return run.wrong();
  }
  return {};
}

}  // namespace loco::test
