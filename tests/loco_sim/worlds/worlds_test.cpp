// Random worlds: each run ends; whatever it finds wrong is explained by what is broken or given up in it; and the naive
// reference checker, which has the definitions word by word, agrees on every verdict that it can judge, also when parts
// of what happened are taken back.
//
// Random networks (tests/nic_model/random_network.hpp) run beside them, and together they reach each named branch
// (probe/probe.hpp) that is not said to be rare.
//
// Replay one: LOCO_SIM_SEED=<seed> test_worlds
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

#include "loco_sim/run/run.hpp"
#include "model/check.hpp"
#include "probe/probe.hpp"
#include "random_network.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/worlds/probes.hpp"
#include "tests/loco_sim/worlds/random_world.hpp"
#include "tests/model/reference.hpp"

namespace loco::test {
namespace {

constexpr std::array kCore = {trace::Library::rdmawait, trace::Library::sv, trace::Library::bal};

struct Tally {
  std::uint64_t runs = 0, errors = 0, inconsistent = 0, compared = 0, confirmed = 0, taken_back = 0, refused = 0;

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "{} worlds ({} drafts refused), {} ended with an error, {} inconsistent; reference: {} levels compared, {} of "
        "them inconsistent; {} traces with a part taken back",
        runs, refused, errors, inconsistent, compared, confirmed, taken_back);
  }
};

/// Is every violation one that the reference checker looks for?
bool in_reach(const model::LibraryResult& result) {
  return std::ranges::all_of(result.violations, [](const model::Violation& v) {
    return !v.cycle.empty() || v.rule == model::Rule::incomplete || v.rule == model::Rule::own_write;
  });
}

/// The checker against the definitions, level by level.
void compare(const trace::Trace& trace, Tally& tally) {
  if (!model::test::fits_reference(trace)) return;
  const model::Verdict verdict = model::check(trace, kCore);
  unsigned level = 0;
  for (std::size_t i = 0; i < kCore.size(); ++i) {
    level |= 1U << static_cast<unsigned>(kCore[i]);
    const model::LibraryResult& result = verdict.results[i];
    if (!in_reach(result)) continue;
    const bool expected = model::test::reference_consistent(trace, level);
    INFO("level " << name(kCore[i]) << "\n" << verdict.to_text());
    CHECK(result.consistent == expected);
    ++tally.compared;
    if (!expected) ++tally.confirmed;
  }
}

/// Takes back NIC writes that nobody has seen and nothing has followed, as if their packets had been lost.
trace::Trace with_losses(trace::Trace trace, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<bool> seen(trace.subevents.size(), false);
  for (const trace::Subevent& s : trace.subevents) {
    if (is_unbegun(s)) continue;
    if (s.source != 0) seen[s.source - 1] = true;
    if (s.overwrote != 0) seen[s.overwrote - 1] = true;
  }
  for (std::size_t i = 0; i < trace.subevents.size(); ++i) {
    trace::Subevent& s = trace.subevents[i];
    const bool nic = s.stamp == trace::Stamp::aNRW || s.stamp == trace::Stamp::aNLW;
    if (!nic || seen[i] || is_unbegun(s) || random() % 3 != 0) continue;
    s = {
        .call = s.call, .stamp = s.stamp, .peer = s.peer, .node = s.node, .address = s.address, .start = trace::kNever};
  }
  return trace;
}

void judge(const Excuses& excuses, const trace::Trace& trace, const model::Verdict& verdict, std::uint64_t seed,
           Tally& tally) {
  if (!verdict.consistent()) {
    ++tally.inconsistent;
    INFO(verdict.to_text());
    CHECK(!excuses.inconsistent.empty());
  }
  for (const model::LibraryResult& r : verdict.results)
    for (const model::Violation& v : r.violations) {
      INFO(v.message);
      CHECK(v.rule != model::Rule::structure);  // whatever a machine does, it does
    }
  compare(trace, tally);
  const trace::Trace fewer = with_losses(trace, seed);
  compare(fewer, tally);
  ++tally.taken_back;
}

void run_world(std::uint64_t seed, Tally& tally) {
  const World world = random_world(seed);
  const Excuses excuses = excuses_of(world.scenario);
  tally.refused += world.refused;
  ++tally.runs;
  INFO("LOCO_SIM_SEED=" << seed << "\n" << world.text);
  try {
    const RunResult result = run(world.scenario);
    INFO(fmt::format("{}", fmt::join(result.broken, ", ")));
    CHECK((result.broken.empty() || !excuses.inconsistent.empty() || !excuses.failing.empty()));
    judge(excuses, *result.trace, *result.verdict, seed, tally);
  } catch (const RunError& error) {
    ++tally.errors;
    INFO(error.what());
    CHECK((!excuses.failing.empty() || !excuses.inconsistent.empty()));
    if (error.trace() && error.verdict()) judge(excuses, *error.trace(), *error.verdict(), seed, tally);
  }
}

void run_worlds(std::uint64_t first, std::uint64_t count) {
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed) run_world(seed, tally);
  WARN(tally.text());
  CHECK(tally.inconsistent > 0);  // a test that cannot fail says nothing
  CHECK(tally.confirmed > count / 50);
  CHECK(tally.compared > count);
}

/// Their promises are test_nic_networks' to check; here they reach what LOCO's worlds do not.
void run_networks(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("network " << seed);
    CHECK(run_traffic(random_network(seed), seed).wrong.empty());
  }
}

void reach_planted() { LOCO_PROBE(planted_and_reached); }

/// LOCO_SIM_SEED: only that world. LOCO_SIM_FIRST: begin with that seed. LOCO_SIM_PROBES: how often each named branch
/// was reached.
void run_all(std::uint64_t first, std::uint64_t worlds, std::uint64_t networks) {
  if (const char* seed = std::getenv("LOCO_SIM_SEED"); seed != nullptr) {
    Tally tally;
    return run_world(std::strtoull(seed, nullptr, 10), tally);
  }
  if (const char* other = std::getenv("LOCO_SIM_FIRST"); other != nullptr) first = std::strtoull(other, nullptr, 10);
  reach_planted();  // also where this is the only test that runs
  run_worlds(first, worlds);
  run_networks(first, networks);
  const std::span<const Rare> rare = rare_in_worlds();
  if (std::getenv("LOCO_SIM_PROBES") != nullptr) WARN(reached_text(rare));
  INFO("never reached: " << fmt::format("{}", fmt::join(unreached(rare), ", ")));
  CHECK(unreached(rare).empty());
  CHECK(unknown(rare).empty());
}

[[maybe_unused]] void planted() { LOCO_PROBE(planted_and_not_reached); }

TEST_CASE("a named branch that nobody reaches is told, unless it is said to be rare", "[worlds]") {
  const std::vector<std::string> of_all = unreached({});
  CHECK(std::ranges::count(of_all, "planted_and_not_reached") == 1);
  CHECK(std::ranges::count(unreached(rare_in_worlds()), "planted_and_not_reached") == 0);
  reach_planted();
  CHECK(std::ranges::count(unreached({}), "planted_and_reached") == 0);
  constexpr std::array kGone = {Rare{"no_such_probe", "planted"}};
  CHECK(unknown(kGone) == std::vector<std::string>{"no_such_probe"});
}

TEST_CASE("random worlds end, what goes wrong is explained, definitions agree, named branches are reached",
          "[worlds]") {
  run_all(1, 300, 300);
}

TEST_CASE("random worlds by the thousand", "[.long]") { run_all(1'000, 20'000, 5'000); }

}  // namespace
}  // namespace loco::test
