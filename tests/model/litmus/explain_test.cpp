// Witnesses and forbidding cycles.
#include <algorithm>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"

using namespace loco::model::litmus;

namespace {

Program named(const std::string& name) {
  for (Program& p : test::corpus())
    if (p.name == name) return std::move(p);
  FAIL("no document " << name);
  return {};
}

}  // namespace

TEST_CASE("every allowed outcome of the corpus has a witness, every forbidden one cycles or no candidates",
          "[litmus]") {
  for (const Program& p : test::corpus()) {
    for (const PartialOutcome& o : p.allowed) {
      INFO(p.file << ": " << p.name);
      const auto w = witness(p, o);
      REQUIRE(w.has_value());
      CHECK(matches(o, w->outcome));
      CHECK(explain_forbidden(p, o).empty());
    }
    for (const PartialOutcome& o : p.forbidden) {
      INFO(p.file << ": " << p.name);
      CHECK_FALSE(witness(p, o).has_value());
      for (const Explanation& e : explain_forbidden(p, o)) {
        CHECK(e.cycle.size() >= 2);
        CHECK(e.candidates >= 1);
        // The cycle is one: an edge leads from each of its nodes to the next.
        for (std::size_t k = 0; k < e.cycle.size(); ++k) {
          const int from = e.cycle[k], to = e.cycle[(k + 1) % e.cycle.size()];
          CHECK(std::any_of(e.edges.begin(), e.edges.end(),
                            [&](const Explanation::Edge& x) { return x.from == from && x.to == to && x.on_cycle; }));
        }
      }
    }
  }
}

TEST_CASE("the cycle of Fig. 23 is the paper's", "[litmus]") {
  // Appendix E: receive aWT -fb-> submit aNRW -ppo-> barrier aGF_2 -so-> barrier aCR -ppo-> receive aWT.
  const Program p = named("fig23-ring-buffer-and-barrier");
  const auto cycles = explain_forbidden(p, parse_outcome(p, "a=true b=empty"));
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].cycle.size() == 4);
  const std::string text = to_text(cycles[0]);
  for (const char* edge : {"--ppo--> (program order, cell G11 of Fig. 10)", "--so-->", "--fb-->",
                           "--ppo--> (program order, cell A5 of Fig. 10)"})
    CHECK_THAT(text, loco::test::contains_text(edge));
}

TEST_CASE("an outcome without candidates: values that nobody has, or a barrier that not all pass", "[litmus]") {
  const Program p = parse_text(R"--(
name: left-alone
model: loco
locations: {x: {node: 1}}
barriers: {z: [0, 1]}
threads:
  - {node: 1, code: "a = x; if (a == 0) { barrier(z) }"}
  - {node: 1, code: "x = 1; barrier(z)"}
)--",
                               "left-alone.yaml")
                        .front();
  CHECK(explain_forbidden(p, parse_outcome(p, "a=1")).empty());
  CHECK_THAT(why_no_candidate(p).text, loco::test::contains_text("all threads of a barrier pass it equally often"));
  const Program q = named("fig8b-message-passing");
  CHECK(explain_forbidden(q, parse_outcome(q, "a=7")).empty());
  CHECK(why_no_candidate(q).text == "is impossible: no execution reads these values");
}

TEST_CASE("of a test that is too large it is not said that an outcome is impossible", "[litmus]") {
  std::string code = "a = x;";
  for (int i = 0; i < 15; ++i) code += " if (x == " + std::to_string(i) + ") { y = " + std::to_string(i) + " };";
  const Program p =
      parse_text(
          "name: big\nmodel: rdmawait\nlocations: {x: {node: 1}, y: {node: 1}}\nthreads:\n  - {node: 1, code: \"" +
              code + "\"}\n  - {node: 1, code: \"x = 1\"}\n",
          "big.yaml")
          .front();
  const NoCandidate none = why_no_candidate(p);
  CHECK_FALSE(none.decided);
  CHECK_THAT(none.text, loco::test::contains_text("too large"));
}

TEST_CASE("where loops were cut it is not said that an outcome is impossible", "[litmus]") {
  const Program p = parse_text(R"--(
name: counts
model: rdmawait
locations: {x: {node: 1}}
threads: [{node: 1, code: "while (c < 5) { c = c + 1 }; a = x"}]
)--",
                               "counts.yaml")
                        .front();
  const NoCandidate none = why_no_candidate(p);
  CHECK_FALSE(none.decided);
  CHECK(none.text == "is not known to be possible: loops were cut after 4 repetitions");
  Options enough;
  enough.loop_bound = 5;
  CHECK(witness(p, parse_outcome(p, "c=5"), enough).has_value());
  CHECK(why_no_candidate(p, enough).decided);
}

TEST_CASE("cycles name sv's own writes, and polls as such", "[litmus]") {
  const auto told = [](const std::string& document, const std::string& outcome) {
    const Program p = parse_text(document, "t.yaml").front();
    const auto cycles = explain_forbidden(p, parse_outcome(p, outcome));
    REQUIRE(cycles.size() == 1);
    return to_text(cycles[0]);
  };
  CHECK_THAT(told("locations: {s: {shared: true}}\nthreads:\n  - {node: 1, code: \"s = 1; a = s\"}\n", "a=0"),
             loco::test::contains_text("--po--> (a thread sees its own writes)"));
  CHECK_THAT(told("model: rdmatso\nlocations: {x: {node: 1}, y: {node: 2, init: 1}}\n"
                  "threads:\n  - {node: 1, code: \"get(x, y); poll(2); a = x\"}\n",
                  "a=0"),
             loco::test::contains_text("(the poll sees the operation done)"));
}

TEST_CASE("the drawing has threads as columns and relations in colours", "[litmus]") {
  const Program p = named("fig8b-message-passing");
  const auto cycles = explain_forbidden(p, parse_outcome(p, "a=1 b=0"));
  REQUIRE(cycles.size() == 1);
  const std::string dot = to_dot(cycles[0]);
  for (const char* part : {"digraph", "subgraph cluster_0", "subgraph cluster_1", "label=\"thread 1 (node 1)\"",
                           "color=forestgreen", "label=\"rf\"", "color=firebrick", "penwidth=2.5"})
    CHECK_THAT(dot, loco::test::contains_text(part));
  CHECK(std::count(dot.begin(), dot.end(), '{') == std::count(dot.begin(), dot.end(), '}'));
}

TEST_CASE("outcomes typed by hand are checked", "[litmus]") {
  const Program p = named("fig8b-message-passing");
  CHECK(parse_outcome(p, "{a: 1, b: 0}") == PartialOutcome{{0, 1}, {1, 0}});
  CHECK_THROWS_WITH(parse_outcome(p, "q=1"), loco::test::contains_text("found \"q\""));
  CHECK(parse_outcome(p, "a=1; b=0;") == PartialOutcome{{0, 1}, {1, 0}});
  CHECK_THROWS_WITH(parse_outcome(p, "a=x"), loco::test::contains_text("found \"x\""));
  CHECK_THROWS_WITH(parse_outcome(p, "a==0"), loco::test::contains_text("found \"=0\""));
  CHECK_THROWS_WITH(parse_outcome(p, "a 0"), loco::test::contains_text("expected = after a"));
  CHECK_THROWS_WITH(parse_outcome(p, "a=[1"), loco::test::contains_text("expected a list of integers for a"));
}

TEST_CASE("tuples of outcomes can be typed by hand", "[litmus]") {
  const Program p = parse_text(
      "name: t\nlocations: {m: {node: 1, init: [0, 0]}}\n"
      "threads:\n  - {node: 1, code: \"write(m, [1, 2]); r = tryread(m)\"}\n",
      "t.yaml")[0];
  CHECK(witness(p, parse_outcome(p, "r=[1, 2]")));
  CHECK_FALSE(witness(p, parse_outcome(p, "r=[2,1]")));
}

TEST_CASE("the cycles of remote atomics are told in words", "[litmus]") {
  const Program two = named("rule-two-increments");
  const auto cycles = explain_forbidden(two, parse_outcome(two, "z=0 w=0"));
  REQUIRE_FALSE(cycles.empty());
  // Whichever is first, the other one reads what it has overwritten: aNAR -rb-> aNRW -rao-> aNAR.
  CHECK(cycles[0].cycle.size() == 2);
  const std::string text = to_text(cycles[0]);
  CHECK_THAT(text, loco::test::contains_text("--rao--> (the atomics of node 2 are executed one at a time: the next one "
                                             "reads when the write is in memory)"));
  CHECK_THAT(to_dot(cycles[0]), loco::test::contains_text("label=\"rao\""));

  const Program behind = named("cell-g12");
  const auto ordered = explain_forbidden(behind, parse_outcome(behind, "z=0"));
  REQUIRE_FALSE(ordered.empty());
  CHECK_THAT(to_text(ordered[0]), loco::test::contains_text("program order, cell G12 of the stamp order"));

  const Program waits = named("rule-wait-is-not-visibility");
  const auto w = witness(waits, parse_outcome(waits, "a=1 b=0"));
  REQUIRE(w.has_value());
  CHECK_THAT(to_text(*w), loco::test::contains_text("posted, not yet in memory"));
}
