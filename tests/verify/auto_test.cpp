// Engine auto: what other networks tell, and limits.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "verify/auto_engine.hpp"
#include "verify/done_at_once.hpp"
#include "verify/flush_search.hpp"

using namespace loco::verify;
using loco::test::parsed;

namespace {

/// Knows that everything is safe under `unordered`, and nothing else.
class OnlyUnordered final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "only unordered"; }
  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    answer.engine = name();
    answer.why = "it says so";
    if (task.network == Network::kUnordered) answer.verdict = Verdict::kSafe;
    return answer;
  }
};

/// Says when it is asked about too few flushes that it breaks, and needs for ever where there are some.
class Slow final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "slow"; }
  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    const auto flushes = std::count(task.flushes.begin(), task.flushes.end(), true);
    if (flushes >= 2) answer.verdict = Verdict::kSafe;
    if (flushes < 2)
      while (!task.limits.out_of_time()) continue;
    return answer;
  }
};

}  // namespace

TEST_CASE("a proof on a weaker network is one") {
  const Program program =
      parsed("process 1 { local a; while (*) { a = a + 1; } } assert always (a >= 0 || a * a == 2);");
  const auto engine = auto_engine([] { return std::make_unique<OnlyUnordered>(); });
  for (const Network network : {Network::kVerbs, Network::kInOrder}) {
    const Answer answer = engine->check({program, {}, network, {}});
    CHECK(answer.verdict == Verdict::kSafe);
    CHECK(answer.why == "under unordered, which shows all that " + std::string(name(network)) + " does: it says so");
  }
}

namespace {
/// A put from X to Y, what stands around it, and a reader.
Program one_put(const std::string& after, const std::string& property, const std::string& other = "") {
  return parsed("process 1 { shared X = 0, R = 0; local a; " + std::string("w: put(Y, 2, X); ") + after +
                "store X = 1; }\nprocess 2 { shared Y = 0; local b; load b = Y; " + other + " }\n" + property);
}

bool at_once(const Program& program) { return all_done_at_once(program, all_flushes(program)); }
}  // namespace

TEST_CASE("an operation is one step where it is waited for at once, and nobody else sees its side") {
  const std::string fine = "assert always (b <= 0);";
  CHECK(at_once(one_put("flush(2); ", fine)));
  CHECK_FALSE(at_once(one_put("", fine)));
  CHECK_FALSE(at_once(one_put("a = 1; flush(2); ", fine)));
  CHECK_FALSE(at_once(one_put("flush(1); ", fine)));                                    // to somebody else
  CHECK_FALSE(at_once(one_put("flush(2); ", fine, "put(X, 1, Y); flush(1);")));         // X is written from afar
  CHECK_FALSE(at_once(one_put("flush(2); ", fine, "Y = get(X, 1); flush(1);")));        // or read, by a word that is
  CHECK_FALSE(at_once(one_put("flush(2); ", "assert always (!at(1, w) || b <= 0);")));  // where it stands
  CHECK(at_once(one_put("flush(2); ", "assert final (Y == 0 && X == 1);")));            // all have ended
  CHECK(at_once(one_put("flush(2); R = get(Y, 2); flush(2); ", fine)));
  CHECK_FALSE(at_once(one_put("flush(2); R = get(Y, 2); flush(2); ", "assert always (R <= 0);")));  // its result
  const Program program = one_put("flush(2); ", fine);
  CHECK_FALSE(all_done_at_once(program, FlushMask(program.flushes.size(), false)));  // flushes that do not count
}

TEST_CASE("an answer does not depend on the clock") {
  const Program program = parsed(loco::test::kPeterson);
  const auto engine = auto_engine([] { return std::make_unique<OnlyUnordered>(); });
  const Task task{program, all_flushes(program), Network::kUnordered, {}};
  CHECK(engine->check(task).why == engine->check(task).why);
}

TEST_CASE("a search for flushes that does not end says how few suffice") {
  const Program program = parsed(
      "process 1 { shared X = 0; put(Y, 2, X); flush(2); put(Y, 2, X); flush(2); put(Y, 2, X); flush(2); }\n"
      "process 2 { shared Y = 0; } assert final (Y == 0);");
  Slow engine;
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const FlushSearch found = search_flushes(engine, {program, all_flushes(program), Network::kUnordered, limits});
  CHECK_FALSE(found.found);
  REQUIRE(found.at_most);
  CHECK(found.at_most->size() == 2);
  CHECK(found.why.find("at most 2 of 3 flushes, at least 0: out of time") == 0);
}
