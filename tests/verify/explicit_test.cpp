// The explicit engine on programs whose verdicts are known from the paper or derived beside the test.
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "verify/command.hpp"
#include "verify/engines.hpp"
#include "verify/explicit_engine.hpp"
#include "verify/schedule.hpp"

namespace {

using namespace loco::verify;
using loco::test::kPeterson;
using loco::test::kPutThenStore;
using loco::test::parsed;

Answer answer(const std::string& text, Network network = Network::kUnordered, Limits limits = {},
              const FlushMask& flushes = {}) {
  const Program program = parsed(text);
  return explicit_engine()->check({program, flushes.empty() ? all_flushes(program) : flushes, network, limits});
}

Verdict verdict(const std::string& text, Network network = Network::kUnordered) {
  return answer(text, network).verdict;
}

}  // namespace

TEST_CASE("the paper's first example") {
  CHECK(verdict(kPutThenStore) == Verdict::kSafe);
  const Answer without = answer(kPutThenStore, Network::kUnordered, {}, {false, true});
  REQUIRE(without.verdict == Verdict::kUnsafe);
  // put and store, the put's two parts, the get and its two parts, its flush, the load: and the skipped flush.
  CHECK(without.counterexample->schedule.size() == 10);
  CHECK(without.counterexample->shortest);
  CHECK(answer(kPutThenStore, Network::kSc, {}, {false, false}).verdict == Verdict::kSafe);
  CHECK(answer(kPutThenStore, Network::kInOrder, {}, {false, true}).verdict == Verdict::kUnsafe);
}

TEST_CASE("Peterson's lock in loops without end") {
  CHECK(verdict(kPeterson) == Verdict::kSafe);
  CHECK(answer(kPeterson, Network::kUnordered, {}, FlushMask(7, false)).verdict == Verdict::kUnsafe);
  CHECK(answer(kPeterson, Network::kSc, {}, FlushMask(7, false)).verdict == Verdict::kSafe);
}

TEST_CASE("any number of pending operations is covered") {
  // Puts of 1 and 2 for ever, never flushed: the reader sees 0, 1 or 2.
  const std::string endless = R"(
process 1 { shared X = 1; local u; while (*) { put(Y, 2, X); u = choose(1, 2); store X = u; } }
process 2 { shared Y = 0; local r; load r = Y; }
)";
  CHECK(verdict(endless + "assert final (r <= 2);") == Verdict::kSafe);
  CHECK(verdict(endless + "assert final (r <= 1);") == Verdict::kUnsafe);
  for (const Network network : {Network::kVerbs, Network::kInOrder, Network::kSc})
    CHECK(verdict(endless + "assert final (r <= 2);", network) == Verdict::kSafe);
}

TEST_CASE("a value seen and then an older one needs two instances of one put") {
  const std::string text = R"(
process 1 { shared X = 1; local i; while (i < 2) { put(Y, 2, X); store X = 2; i = i + 1; } }
process 2 { shared Y = 0; local a, b; load a = Y; load b = Y; }
assert final (!(a == 2 && b == 1));)";
  CHECK(verdict(text) == Verdict::kUnsafe);
  CHECK(verdict(text, Network::kVerbs) == Verdict::kSafe);
  CHECK(verdict(text, Network::kInOrder) == Verdict::kSafe);
}

TEST_CASE("stores of flags and gets of them") {
  // Store buffering: without flushes both gets may read before either store, under every network but sc... where the
  // gets are done when they are issued.
  const std::string text = R"(
process 1 { shared X = 0, A = 5; local a; store X = 1; A = get(Y, 2); flush(2); load a = A; }
process 2 { shared Y = 0, B = 5; local b; store Y = 1; B = get(X, 1); flush(1); load b = B; }
)";
  CHECK(verdict(text + "assert final (a == 1 || b == 1);") == Verdict::kSafe);
  CHECK(answer(text + "assert final (a == 1 || b == 1);", Network::kInOrder, {}, {false, false}).verdict ==
        Verdict::kUnsafe);  // a and b are 5
  CHECK(answer(text + "assert final (a != 0 || b != 0);", Network::kInOrder, {}, {false, false}).verdict ==
        Verdict::kSafe);
}

TEST_CASE("two puts and two loads tell networks apart") {
  const std::string puts = R"(
process 1 { shared X = 1; put(D, 2, X); put(F, 2, X); }
process 2 { shared D = 0, F = 0; local f, d; load f = F; load d = D; }
assert final (!(f == 1 && d == 0));)";
  CHECK(verdict(puts) == Verdict::kUnsafe);
  CHECK(verdict(puts, Network::kVerbs) == Verdict::kSafe);
  const std::string put_get = R"(
process 1 { shared X = 1, R = 9; local r; put(Y, 2, X); R = get(Y, 2); flush(2); load r = R; }
process 2 { shared Y = 0; }
assert final (r == 1);)";
  CHECK(verdict(put_get, Network::kVerbs) == Verdict::kUnsafe);
  CHECK(verdict(put_get, Network::kInOrder) == Verdict::kSafe);
}

TEST_CASE("increments with rga are never lost, with get and put they are") {
  const std::string rga = R"(
process 1 { shared O1 = 1, R1 = 0; R1 = rga(C, 3, O1); flush(3); }
process 2 { shared O2 = 1, R2 = 0; R2 = rga(C, 3, O2); flush(3); }
process 3 { shared C = 0; }
assert final (C == 2 && R1 + R2 == 1);)";
  CHECK(verdict(rga) == Verdict::kSafe);
  const std::string cas = R"(
process 1 { shared Z1 = 0, O1 = 1, R1 = 9; R1 = cas(L, 3, Z1, O1); flush(3); }
process 2 { shared Z2 = 0, O2 = 2, R2 = 9; R2 = cas(L, 3, Z2, O2); flush(3); }
process 3 { shared L = 0; }
assert final ((R1 == 0) + (R2 == 0) == 1 && (R1 == 0 || L == 2) && (R2 == 0 || L == 1));)";
  CHECK(verdict(cas) == Verdict::kSafe);
}

TEST_CASE("assertions in processes, stuck processes, choices") {
  CHECK(verdict("process 1 { local u; u = choose(1, 2); assume (u == 1); assert (u == 1); } assert always (1);") ==
        Verdict::kSafe);
  CHECK(verdict("process 1 { local u; u = choose(1, 2); assert (u == 1); } assert always (1);") == Verdict::kUnsafe);
  CHECK(verdict("process 1 { assert (*); } assert always (1);") == Verdict::kUnsafe);
  CHECK(verdict("process 1 { assume (0); } process 2 { local u; u = 1; } assert final (u == 0);") == Verdict::kSafe);
  CHECK(verdict("process 1 { while (1) skip; } process 2 { local u; u = 1; } assert final (u == 0);") ==
        Verdict::kSafe);
  CHECK(verdict("process 1 { while (1) skip; } process 2 { local u; u = 1; } assert always (u == 0);") ==
        Verdict::kUnsafe);
  CHECK(verdict("process 1 { } assert final (0);") == Verdict::kUnsafe);
}

TEST_CASE("integers have no end") {
  CHECK(verdict(R"(process 1 { local u = 9223372036854775807; u = u * u + 1; assert (u > 9223372036854775807); }
assert final (u == 85070591730234615847396907784232501250);)") == Verdict::kSafe);
}

TEST_CASE("an unbounded counter is refuted when it breaks something, and unknown otherwise") {
  const std::string counter =
      "process 1 { shared X = 0; local u; while (*) { u = u + 1; store X = u; put(Y, 2, X); } }\n"
      "process 2 { shared Y = 0; local r; load r = Y; }\n";
  Limits limits;
  limits.pending = 1;
  limits.shortest = false;
  CHECK(answer(counter + "assert final (r != 3);", Network::kUnordered, limits).verdict == Verdict::kUnsafe);
  limits.memory_bytes = 1U << 20U;
  const Answer unknown = answer(counter + "assert final (r >= 0);", Network::kUnordered, limits);
  CHECK(unknown.verdict == Verdict::kUnknown);
  CHECK_THAT(unknown.why, loco::test::contains_text("out of memory"));
  limits.deadline = std::chrono::steady_clock::now();
  CHECK_THAT(answer(counter + "assert final (r >= 0);", Network::kUnordered, limits).why,
             loco::test::contains_text("out of time"));
}

TEST_CASE("several programs at a time, and what they make of the exit code") {
  CommandOptions options;
  options.engine = "explicit";
  options.jobs = 3;
  const std::string unsafe = "process 1 { } assert final (0);";
  const auto code = [&](const std::vector<std::string>& texts) {
    std::vector<Program> programs;
    for (const std::string& text : texts) programs.push_back(parsed(text));
    return exit_code(check_programs(std::move(programs), options));
  };
  CHECK(code({kPeterson, kPutThenStore}) == 0);
  CHECK(code({kPeterson, unsafe, kPutThenStore}) == 1);
  options.max_memory = 1;
  const std::string endless = "process 1 { local u; while (1) { u = u + 1; assert (u > 0); } } assert always (1);";
  CHECK(code({kPutThenStore, endless}) == 3);
  CHECK(code({unsafe, endless}) == 1);
  CHECK_THROWS_WITH(make_engine("exlicit"), loco::test::contains_text("expected an engine, one of auto, explicit"));
}
