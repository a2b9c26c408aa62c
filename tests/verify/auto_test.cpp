// Engine auto: what other networks tell, and limits.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "verify/auto_engine.hpp"
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
