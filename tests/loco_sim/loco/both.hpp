// Runs one LOCO program on both transports: threads in this process, and the simulated machine that is as weak as the
// memory model (profile defaults), under schedules drawn from seeds, with the checkers on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/loco/reversing_transport.hpp"
#include "tests/loco_sim/loco/thread_transport.hpp"

namespace loco::test {

using Program = std::function<void(Transport&)>;

inline constexpr std::array kAllLibraries = {trace::Library::rdmawait, trace::Library::sv,  trace::Library::bal,
                                             trace::Library::rbl,      trace::Library::msw, trace::Library::lock};

inline constexpr std::array kAllWithStores = {trace::Library::rdmawait, trace::Library::sv,  trace::Library::bal,
                                              trace::Library::rbl,      trace::Library::msw, trace::Library::lock,
                                              trace::Library::kvstore};

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

/// The first word of a message.
inline std::uint64_t word_of(const std::vector<std::byte>& message) {
  std::uint64_t word = 0;
  std::memcpy(&word, message.data(), sizeof word);
  return word;
}

/// One run. A program whose state outlives a run takes this, with a state for each.
inline void on_threads(std::uint32_t nodes, const Program& program, WordOrder words) {
  WordByWord handed_over(program, words, 1);
  ThreadCluster cluster(nodes);
  cluster.run([&](Transport& node) { handed_over(node); });
}

/// Two runs: operations are whole, and all words go last first.
inline void on_threads(std::uint32_t nodes, const Program& program) {
  for (const WordOrder words : {WordOrder::whole, WordOrder::last_first}) on_threads(nodes, program, words);
}

/// The verdict on one simulated run. Rethrows a program's exception.
inline model::Verdict on_simulator(std::uint32_t nodes, const Program& program, Schedule schedule, std::uint64_t seed,
                                   bool tower = false, WordOrder words = WordOrder::whole) {
  ClusterConfig config;
  config.nodes = nodes;
  config.schedule = schedule;
  config.seed = seed;
  config.record = true;
  config.events_max = 2'000'000;
  WordByWord handed_over(program, words, seed);
  SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](Transport& node) { handed_over(node); });
  cluster.run();
  return model::check(cluster.take_trace(), kAllLibraries, {.tower = tower});
}

/// Many simulated runs, random and adversarial by turns: each must end, and be consistent at every level. Every tenth
/// one is checked against the tower, too. Of three runs one has the transport hand over all words last first, and one
/// those of some operations in any order.
inline void on_many_schedules(std::uint32_t nodes, const Program& program, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Schedule schedule = seed % 2 == 0 ? Schedule::random : Schedule::adversarial;
    const auto words = static_cast<WordOrder>(seed / 2 % 3);
    const model::Verdict verdict = on_simulator(nodes, program, schedule, seed, seed % 10 == 0, words);
    INFO("seed " << seed << "\n" << verdict.to_text());
    REQUIRE(verdict.consistent());
  }
}

}  // namespace loco::test
