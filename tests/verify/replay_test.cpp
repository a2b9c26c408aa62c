// Reports as JSON, text and drawings, and traces taken again.
#include "verify/replay.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "verify/command.hpp"
#include "verify/drawing.hpp"
#include "verify/schedule.hpp"

namespace {

using namespace loco::verify;
using loco::test::parsed;
using nlohmann::json;

const std::string kUnflushed = R"(process 1 { shared Y = 1; }
process 2 { shared R = 0, X = 2; local r; put(Y, 1, X); store X = 3; R = get(Y, 1); load r = R; }
assert final (r != 3);
)";

Report report(const std::string& text, bool where = false) {
  CommandOptions options;
  options.engine = "explicit";
  options.where = where;
  return check_programs({parsed(text)}, options).front();
}

}  // namespace

TEST_CASE("a counterexample in JSON breaks the same when it is taken again") {
  const json out = json::parse(to_json(report(kUnflushed)).dump());
  CHECK(out["verdict"] == "unsafe");
  CHECK(out["file"] == "f.rma");
  CHECK(out["network"] == "unordered");
  CHECK(out["shortest"] == true);
  REQUIRE(out["trace"].size() == 8);
  CHECK(out["trace"][0]["actor"] == "cpu");
  CHECK(out["trace"][0]["action"] == "put(Y, 1, X)");
  const Program program = parsed(kUnflushed);
  const Replay again = replay(program, json::array({out}).dump(), Network::kSc);
  CHECK(again.network == Network::kUnordered);
  CHECK(again.outcome.broken);
  CHECK(again.outcome.steps == 8);
  CHECK(to_text(program, again) == "f.rma: under unordered step 8 breaks assert final (r != 3)\n");
}

TEST_CASE("a trace that the semantics does not take is told where") {
  const Program program = parsed(kUnflushed);
  json trace = json::parse(to_json(report(kUnflushed)).dump());
  json missing = trace;
  missing["trace"].erase(0);
  CHECK(to_text(program, replay(program, missing.dump(), Network::kUnordered)) ==
        "f.rma: under unordered step 1 cannot be taken: the process does not stand before that statement\n");
  json shorter = trace;
  shorter["trace"].erase(7);
  CHECK(to_text(program, replay(program, shorter.dump(), Network::kUnordered)) ==
        "f.rma: under unordered all 7 steps can be taken and nothing is broken\n");
  json ordered = trace;
  ordered["network"] = "sc";
  CHECK(replay(program, ordered.dump(), Network::kUnordered).outcome.obstacle.has_value());
}

TEST_CASE("what is no trace is refused") {
  const Program program = parsed(kUnflushed);
  const auto refused = [&](const std::string& text, const std::string& expected) {
    CHECK_THROWS_WITH(replay(program, text, Network::kUnordered), loco::test::contains_text(expected));
  };
  refused("{", "expected JSON");
  refused("3", "expected an object with an array \"trace\"");
  refused("[]", "expected an object with an array \"trace\"");
  refused(R"({"trace": 1})", "expected an object with an array \"trace\"");
  refused(R"({"trace": [1]})", "expected an object as step 1");
  refused(R"({"trace": [{}]})", "\"cpu\" or \"nic\" as \"actor\" of step 1");
  refused(R"({"trace": [{"actor": "cpu", "process": 9, "edge": 0}]})", "the number of a process");
  refused(R"({"trace": [{"actor": "nic", "operation": -1}]})", "a whole number as \"operation\" of step 1");
  refused(R"({"trace": [], "network": "token ring"})", "\"network\"");
}

TEST_CASE("flushes are suggested after remote statements") {
  const Report where = report(kUnflushed, true);
  REQUIRE(where.search);
  CHECK(where.search->placements == std::vector<Elements>{{0}});
  CHECK_THAT(to_text(where), loco::test::contains_text("after put(Y, 1, X) in line 2"));
  const json out = json::parse(to_json(where).dump());
  CHECK(out["flushes"]["needed"] == 1);
  CHECK(out["flushes"]["given"] == 2);
  CHECK(out["flushes"]["placements"] == json::parse("[[0]]"));
}

TEST_CASE("a drawing has a column for each CPU and NIC and a node for each step") {
  const std::string dot = to_dot(report(kUnflushed));
  for (const char* text : {"CPU 1", "NIC 1", "CPU 2", "NIC 2", "1. put(Y, 1, X)", "8. load r = R"})
    CHECK_THAT(dot, loco::test::contains_text(text));
  CHECK(to_dot(report(loco::test::kPutThenStore)).empty());
}

TEST_CASE("needless steps go, early operations leave fewer flushes to blame") {
  const Program program = parsed(R"(process 1 { shared Y = 0; local z; z = 1; z = 2; }
process 2 { shared X = 1; local r; put(Y, 1, X); flush(1); put(Y, 1, X); flush(1); r = 1; }
assert always (r == 0 || Y == 0);)");
  const Semantics none(program, {false, false}, Network::kUnordered);
  const auto cpu = [](std::uint32_t process, std::uint32_t edge) {
    return Step{Step::Kind::kCpu, process, edge, 0, 0};
  };
  const auto nic = [](std::uint32_t operation) { return Step{Step::Kind::kNic, 0, 0, 0, operation}; };
  const Schedule schedule = {cpu(0, 0), cpu(1, 0), cpu(1, 1), cpu(0, 1), nic(0),
                             cpu(1, 2), cpu(1, 3), cpu(1, 4), nic(0)};
  REQUIRE(run(none, schedule).broken);
  const Schedule shorter = without_needless_steps(none, schedule);
  CHECK(shorter.size() == 7);
  CHECK(flushes_that_would_wait(none, shorter) == std::vector<std::uint32_t>{0, 1});
  // Both operations can be over before the flushes, and it still breaks: no flush helps.
  CHECK(flushes_that_would_wait(none, with_operations_early(none, shorter)).empty());
}
