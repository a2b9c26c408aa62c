// The fast checker against the definitions, on thousands of small random executions.
//
// Replay one: LOCO_SIM_SEED=<seed> test_model_check "random executions*"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/random_trace.hpp"
#include "tests/model/reference.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

constexpr std::array kLibraries = {Library::rdmawait, Library::sv, Library::bal};

struct Tally {
  std::uint64_t consistent = 0;
  std::uint64_t inconsistent = 0;
  std::uint64_t by_graph = 0;
};

void compare(std::uint64_t seed, std::array<Tally, 3>& tally) {
  const Trace trace = random_trace(seed);
  if (!fits_reference(trace)) return;
  const Verdict verdict = check(trace, kLibraries);
  REQUIRE(verdict.results.size() == 3);
  unsigned level = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    level |= 1U << static_cast<unsigned>(kLibraries[i]);
    const bool expected = reference_consistent(trace, level);
    if (verdict.results[i].consistent != expected) {
      INFO("LOCO_SIM_SEED=" << seed << " library " << name(kLibraries[i]) << "\n" << verdict.to_text());
      REQUIRE(verdict.results[i].consistent == expected);
    }
    ++(expected ? tally[i].consistent : tally[i].inconsistent);
    if (expected && !verdict.results[i].by_stamps) ++tally[i].by_graph;
    // A cycle must be one: each step's edge leads to a different step, and the first is reached again.
    for (const Violation& v : verdict.results[i].violations)
      for (const Step& s : v.cycle) REQUIRE(!s.edge_text.empty());
  }
}

TEST_CASE("random executions: the same verdict as the definitions give", "[check]") {
  std::array<Tally, 3> tally;
  if (const char* seed = std::getenv("LOCO_SIM_SEED"); seed != nullptr) {
    compare(std::strtoull(seed, nullptr, 10), tally);
    return;
  }
  const std::uint64_t traces = loco::test::some(20000) / loco::test::kShare;
  for (std::uint64_t seed = 1; seed <= traces; ++seed) compare(seed, tally);
  for (const Tally& t : tally) {
    // The comparison says little unless both verdicts, and both ways to the good one, are common.
    CHECK(t.consistent > traces / 10);
    CHECK(t.inconsistent > traces / 10);
    CHECK(t.by_graph > traces / 200);
  }
}

/// What had not begun, if there is little of it and nobody knew that it had failed.
std::vector<SubeventId> few_unbegun(const Trace& trace) {
  constexpr std::size_t kMax = 4;
  std::vector<SubeventId> ids;
  for (SubeventId id = 1; id <= trace.subevents.size(); ++id) {
    if (!is_unbegun(trace.subevents[id - 1])) continue;
    if (is_given_up(trace.subevents[id - 1]) || ids.size() == kMax) return {};
    ids.push_back(id);
  }
  return ids;
}

// The meaning of a run that ended early: it is consistent iff there is a way of going on that is. A wait that returned
// too early is told apart from that, so traces with one are left out: they have no consistent way of going on or ended
// in time.
TEST_CASE("random executions: one that ended early is consistent iff some way of going on is", "[check]") {
  std::uint64_t consistent = 0, inconsistent = 0;
  const std::uint64_t traces = loco::test::some(20000) / loco::test::kShare;
  for (std::uint64_t seed = 1; seed <= traces; ++seed) {
    Trace trace = random_trace(seed);
    for (Call& c : trace.calls)
      if (c.method == Method::wait) c.work_id = 0;
    std::vector<SubeventId> order = few_unbegun(trace);
    if (order.empty() || !fits_reference(trace)) continue;
    bool found = false;
    do found = reference_consistent(gone_on(trace, order), 1);
    while (!found && std::next_permutation(order.begin(), order.end()));
    const Verdict verdict = check(trace, std::array{Library::rdmawait});
    INFO("seed " << seed << "\n" << verdict.to_text());
    REQUIRE(verdict.consistent() == found);
    ++(found ? consistent : inconsistent);
  }
  CHECK(consistent > traces / 200);
  CHECK(inconsistent > traces / 200);
}

TEST_CASE("a check looks up often, and ends when it is told to", "[check]") {
  // One thread that writes and reads a word again and again: some 40,000 subevents.
  TraceBuilder b(1);
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    b.commit(b.write(0, {0, 0x100}, i));
    (void)b.read(0, {0, 0x100});
  }
  int looks = 0;
  CheckOptions options;
  options.poll = [&] { ++looks; };
  CHECK(check(b.trace, kLibraries, options).consistent());
  CHECK(looks > 40);  // 40,000 subevents are gone through more than four times
  struct Stop {};
  options.poll = [] { throw Stop(); };
  CHECK_THROWS_AS(check(b.trace, kLibraries, options), Stop);
}

}  // namespace
}  // namespace loco::model::test
