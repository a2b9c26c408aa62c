// Random worlds: each run ends; whatever it finds wrong is explained by what is broken or given up in it; and the naive
// reference checker, which has the definitions word by word, agrees on every verdict that it can judge, also when parts
// of what happened are taken back.
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
#include "tests/catch.hpp"
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
  if (const char* seed = std::getenv("LOCO_SIM_SEED"); seed != nullptr)
    return run_world(std::strtoull(seed, nullptr, 10), tally);
  for (std::uint64_t seed = first; seed < first + count; ++seed) run_world(seed, tally);
  WARN(tally.text());
  CHECK(tally.inconsistent > 0);  // a test that cannot fail says nothing
  CHECK(tally.confirmed > count / 50);
  CHECK(tally.compared > count);
}

TEST_CASE("random worlds end, what goes wrong in them is explained, and the definitions agree", "[worlds]") {
  run_worlds(1, 200);
}

TEST_CASE("random worlds by the thousand", "[.long]") { run_worlds(1'000, 20'000); }

}  // namespace
}  // namespace loco::test
