// The engines for infinite data: predicates, and the paper's extrapolation; and certificates.
#include <chrono>
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/naive_search.hpp"
#include "tests/verify/programs.hpp"
#include "tests/verify/random_program.hpp"
#include "verify/abstract/facts.hpp"
#include "verify/abstract/predicate_engine.hpp"
#ifdef LOCO_SIM_Z3
#include "verify/abstract/boolean_program.hpp"
#include "verify/abstract/certificate_check.hpp"
#include "verify/abstract/extrapolate_engine.hpp"
#endif

namespace {

using namespace loco::verify;
using abstract::Linear;

Answer check(Engine& engine, const Program& program, const FlushMask& flushes, Network network = Network::kUnordered) {
  return engine.check({program, flushes, network, {}});
}

/// The producer counts without end; what the consumer has seen it never takes back. Cell i holds i: `newest` is written
/// before `head`, so a head that is seen is of a cell that is filled (the queue of the paper's Table 3, in short).
const std::string kQueue = R"(process 1 {
  shared head = 0, newest = 0;
  local h;
  while (1) { h = h + 1; store newest = h; store head = h; }
}
process 2 {
  shared H = 0, E = 0;
  local seen, element;
  while (1) {
    H = get(head, 1); flush(1);
    load seen = H;
    E = get(newest, 1); flush(1);
    load element = E;
    assert (element >= seen);
  }
}
assert always (1);
)";

void agree_with_all_states(Engine& engine, std::uint32_t first, std::uint32_t last) {
  int decided = 0;
  for (std::uint32_t seed = first; seed < last; ++seed) {
    const std::string text = loco::test::random_program(seed);
    const Program program = loco::test::parsed(text);
    for (const Network network : {Network::kUnordered, Network::kVerbs, Network::kInOrder, Network::kSc}) {
      INFO("seed " << seed << " under " << name(network) << "\n" << text);
      const auto naive = loco::test::naive_search(program, all_flushes(program), network, 2000, 5);
      Limits limits;
      // half a second for each keeps the test short; until one is decided, as long as a slow machine may take
      const bool waits = decided == 0 && loco::test::kShare == 1;
      const auto patience = std::chrono::milliseconds(waits ? 20'000 : 500);
      limits.deadline = std::chrono::steady_clock::now() + patience;
      const Answer answer = engine.check({program, all_flushes(program), network, limits});
      if (naive.broken) CHECK(answer.verdict != Verdict::kSafe);
      if (naive.complete && !naive.broken) CHECK(answer.verdict != Verdict::kUnsafe);
      decided += answer.verdict != Verdict::kUnknown ? 1 : 0;
    }
  }
  if (loco::test::kShare == 1) CHECK(decided > 0);  // sanitized programs are too slow for the time given
}

}  // namespace

TEST_CASE("facts are closed under differences, and weigh sums") {
  const auto at_most = [](Linear linear, abstract::Number bound) { return plus(linear, Linear::of_constant(-bound)); };
  const Linear x = Linear::of(1);
  const Linear y = Linear::of(2);
  const Linear z = Linear::of(3);
  abstract::Facts facts(4);
  CHECK(facts.assume(at_most(minus(x, y), -1)));  // x < y
  CHECK(facts.assume(at_most(minus(y, z), 0)));   // y <= z
  CHECK(facts.decide(at_most(minus(x, z), -1)) == abstract::Truth::kTrue);
  CHECK(facts.decide(at_most(minus(z, x), 0)) == abstract::Truth::kFalse);
  CHECK(facts.decide(at_most(x, 3)) == abstract::Truth::kUnknown);
  CHECK(facts.assume(at_most(plus(x, y), 4)));  // x + y <= 4 and x < y: x <= 1
  CHECK(facts.decide(at_most(x, 1)) == abstract::Truth::kTrue);
  CHECK_FALSE(facts.assume(at_most(times(x, -1), -2)));  // x >= 2
}

TEST_CASE("the predicate engine proves numbers without bound") {
  const Program program = loco::test::parsed(kQueue);
  const auto engine = predicate_engine();
  CHECK(check(*engine, program, {true, true}).verdict == Verdict::kSafe);
  // The element's flush is needed: what the last get brought may be older than the head. The head's is not.
  CHECK(check(*engine, program, {false, true}).verdict == Verdict::kSafe);
  CHECK(check(*engine, program, {true, false}).verdict == Verdict::kUnsafe);
}

TEST_CASE("the predicate engine finds the placement of the paper for Peterson's lock") {
  const Program program = loco::test::parsed(loco::test::kPeterson);
  const auto engine = predicate_engine();
  CHECK(check(*engine, program, all_flushes(program)).verdict == Verdict::kSafe);
  CHECK(check(*engine, program, FlushMask(program.flushes.size(), false)).verdict == Verdict::kUnsafe);
}

TEST_CASE("the predicate engine keeps nothing of another program") {
  const auto engine = predicate_engine();
  Program program = loco::test::parsed("process 1 { shared X = 0; }\nassert always (X == 0);\n");
  CHECK(check(*engine, program, {}).verdict == Verdict::kSafe);
  program = loco::test::parsed("process 1 { shared X = 1; }\nassert always (X == 0);\n");
  CHECK(check(*engine, program, {}).verdict == Verdict::kUnsafe);
}

TEST_CASE("the predicate engine gives up when its time is over") {
  const Program program = loco::test::parsed(kQueue);
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now();
  CHECK(predicate_engine()->check({program, all_flushes(program), Network::kUnordered, limits}).verdict ==
        Verdict::kUnknown);
}

TEST_CASE("the predicate engine agrees with a search of all states") {
  agree_with_all_states(*predicate_engine(), 20'000, 20'010);
}

TEST_CASE("the predicate engine agrees with a search of all states on many programs", "[.long]") {
  agree_with_all_states(*predicate_engine(), 21'000, 21'100);
}

#ifdef LOCO_SIM_Z3

TEST_CASE("cubes of the paper's example") {
  // Section 4.1: after X = Y + Z, X > 0 holds where Y > 0 and Z > 2 do; nothing tells where it does not.
  const Linear x = Linear::of(1);
  const Linear y = Linear::of(2);
  const Linear z = Linear::of(3);
  const std::vector<Linear> predicates{x, y, plus(z, Linear::of_constant(-2))};  // X <= 0, Y <= 0, Z <= 2
  const Linear sum = plus(y, z);
  CHECK(abstract::cubes_against({sum}, predicates) == abstract::Cubes{{-2, -3}});
  CHECK(abstract::cubes_against({negation(sum)}, predicates).empty());
}

TEST_CASE("extrapolation decides the paper's first example") {
  const Program program = loco::test::parsed(loco::test::kPutThenStore);
  const auto engine = extrapolate_engine();
  CHECK(check(*engine, program, {true, true}).verdict == Verdict::kSafe);
  CHECK(check(*engine, program, {true, false}).verdict == Verdict::kSafe);
  CHECK(check(*engine, program, {false, true}).verdict == Verdict::kUnsafe);
  CHECK(dump({program, all_flushes(program), Network::kUnordered, {}}, "ebp").find("choose(") != std::string::npos);
}

TEST_CASE("extrapolation agrees with a search of all states") {
  agree_with_all_states(*extrapolate_engine(), 30'000, 30'002);
}

TEST_CASE("certificates are accepted, and corrupted ones are not") {
  const Program program = loco::test::parsed(kQueue);
  const FlushMask flushes = all_flushes(program);
  const std::string text = certificate_of({program, flushes, Network::kUnordered, {}});
  REQUIRE_FALSE(text.empty());
  const abstract::Certificate good = abstract::certificate_from(program, text);
  CHECK(abstract::check_certificate(program, good).accepted);
  abstract::Certificate weaker_flushes = good;
  weaker_flushes.flushes[1] = false;
  CHECK_FALSE(abstract::check_certificate(program, weaker_flushes).accepted);
  abstract::Certificate without_memory = good;
  for (auto& state : without_memory.states) state.memory.clear();
  CHECK_FALSE(abstract::check_certificate(program, without_memory).accepted);
  abstract::Certificate short_of_states = good;
  short_of_states.states.pop_back();
  CHECK_FALSE(abstract::check_certificate(program, short_of_states).accepted);
  abstract::Certificate leads_nowhere = good;
  leads_nowhere.states.front().next.front() = abstract::kNowhere;
  CHECK_FALSE(abstract::check_certificate(program, leads_nowhere).accepted);
  CHECK_THROWS_AS(abstract::certificate_from(program, "{}"), std::invalid_argument);
  CHECK(certificate_of({program, {true, false}, Network::kUnordered, {}}).empty());
}

#endif
