// Engines against a search of all states, on random programs.
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/naive_search.hpp"
#include "tests/verify/programs.hpp"
#include "tests/verify/random_program.hpp"
#include "verify/done_at_once.hpp"
#include "verify/explicit_engine.hpp"
#include "verify/schedule.hpp"

namespace {

using namespace loco::verify;

struct Tally {
  int decided = 0;
  int unsafe = 0;
  int shortest = 0;
};

void compare(std::uint32_t seed, Tally& tally) {
  const std::string text = loco::test::random_program(seed);
  const Program program = loco::test::parsed(text);
  bool weaker_safe = false;
  for (const Network network : {Network::kUnordered, Network::kVerbs, Network::kInOrder, Network::kSc}) {
    INFO("seed " << seed << " under " << name(network) << "\n" << text);
    const loco::test::Naive naive = loco::test::naive_search(program, all_flushes(program), network, 1000, 5);
    const Answer answer = explicit_engine()->check({program, all_flushes(program), network, {}});
    if (naive.broken) CHECK(answer.verdict != Verdict::kSafe);
    if (naive.complete && !naive.broken) CHECK(answer.verdict != Verdict::kUnsafe);
    if (answer.verdict != Verdict::kUnknown) ++tally.decided;
    CHECK_FALSE((weaker_safe && answer.verdict == Verdict::kUnsafe));
    weaker_safe = weaker_safe || answer.verdict == Verdict::kSafe;
    if (answer.verdict != Verdict::kUnsafe) continue;
    ++tally.unsafe;
    const Counterexample& counterexample = answer.counterexample.value();
    const Run outcome = run(Semantics(program, all_flushes(program), network), counterexample.schedule);
    CHECK(outcome.broken);
    CHECK(outcome.steps == counterexample.schedule.size());
    if (naive.broken) CHECK(counterexample.schedule.size() >= naive.steps);
    if (!naive.broken || !counterexample.shortest) continue;
    ++tally.shortest;
    CHECK(counterexample.schedule.size() == naive.steps);
  }
}

void compare_all(std::uint32_t first, std::uint32_t last) {
  Tally tally;
  for (std::uint32_t seed = first; seed < last; ++seed) compare(seed, tally);
  const int all = 4 * static_cast<int>(last - first);
  CHECK(tally.decided == all);  // these programs have finite data
  CHECK(tally.unsafe > all / 10);
  CHECK(tally.unsafe < 9 * all / 10);
  CHECK(tally.shortest > all / 20);
}

}  // namespace

TEST_CASE("the explicit engine agrees with a search of all states") {
  compare_all(0, static_cast<std::uint32_t>(loco::test::some(40)) / loco::test::kShare);
}

TEST_CASE("the explicit engine agrees with a search of all states on many programs", "[.long]") {
  compare_all(1000, 3000);
}

TEST_CASE("where each operation is waited for at once, the network makes no difference") {
  int alike = 0;
  int unsafe = 0;
  for (std::uint32_t seed = 0; seed < loco::test::some(1200) / loco::test::kShare; ++seed) {
    const std::string text = loco::test::random_program(seed);
    const Program program = with_flush_after_every_remote(loco::test::parsed(text));
    const FlushMask all = all_flushes(program);
    if (!all_done_at_once(program, all)) continue;
    INFO("seed " << seed << "\n" << text);
    const loco::test::Naive without = loco::test::naive_search(program, all, Network::kSc, 20'000, 5);
    const loco::test::Naive with = loco::test::naive_search(program, all, Network::kUnordered, 20'000, 5);
    if (!without.complete || !with.complete) continue;
    CHECK(with.broken == without.broken);
    ++alike;
    unsafe += with.broken ? 1 : 0;
  }
  CHECK(alike > 10);
  CHECK(unsafe > 0);
  CHECK(unsafe < alike);
}
