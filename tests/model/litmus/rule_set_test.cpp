// Rule sets: composed, named, printed, and what a set without a rule allows.
#include "model/litmus/language/rule_set.hpp"

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"

using namespace loco::model::litmus;

namespace {

/// The outcomes of one thread's code on node 1 (A, B there, C on node 2), as text.
std::vector<std::string> outcomes(const std::string& code, const std::string& model, const std::string& final = "") {
  const std::string document =
      "model: corerma\nlocations: {A: {node: 1}, B: {node: 1}, C: {node: 2}}\nthreads:\n  - {node: 1, "
      "code: \"" +
      code + "\"}\nfinal: [" + final + "]\n";
  const Program p = parse_text(document, "test").front();
  Options o;
  o.model = model;
  std::vector<std::string> texts;
  for (const Outcome& outcome : enumerate(p, o).outcomes) texts.push_back(p.text(outcome));
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("rule sets are composed, printed and named", "[corerma]") {
  CHECK(kCoreRma.text() == "R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS,IR");
  CHECK(parse_rules("IR, WS,LO ,CAS,GA,PG,F3,F2,F1,R2,R1") == kCoreRma);
  CHECK(parse_rules("R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS,PP,GG").name() == "corerma-verbs");
  CHECK(RuleSet().text() == "none");
  CHECK(parse_rules("none") == RuleSet());
  CHECK(kCoreRma.includes(kCoreRmaUnordered));
  CHECK_FALSE(kCoreRmaUnordered.includes(kCoreRma));
  CHECK(kCoreRma.without(Rule::ir) == kCoreRmaUnordered);
  for (const NamedRuleSet& set : named_rule_sets()) {
    CHECK(find_rule_set(set.name) == set.rules);
    CHECK(find_rule_set(set.rules.text()) == set.rules);
    CHECK(set.rules.name() == set.name);
  }
  CHECK_FALSE(find_rule_set("rdmawait"));
  CHECK_FALSE(find_rule_set("R1,R9"));
  CHECK_THROWS_WITH(parse_rules("R1,,R2"),
                    loco::test::contains_text("expected rules (R1, R2, F1, F2, F3, PG, GA, CAS, LO"));
  CHECK_THROWS_WITH(parse_rules("R1,,R2"), loco::test::contains_text("), found \"\""));
  CHECK_THROWS_WITH(parse_rules("R1,CASE"), loco::test::contains_text("found \"CASE\"; did you mean \"CAS\"?"));
}

TEST_CASE("documents name rule sets, and what they expect of one set they expect of its other name", "[corerma]") {
  const std::string document =
      "model: R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS,IR\nlocations: {A: {node: 1}}\nthreads: [{node: 1, code: A = 1; u = A}]\n"
      "outcomes_by_model:\n  corerma: [{u: 0}]\n  R2,LO,WS: [{u: 0}, {u: 1}]\n";
  const Program p = parse_text(document, "test").front();
  CHECK_FALSE(enumerate(p).ok);
  Options o;
  o.model = "LO,WS,R2";
  CHECK(enumerate(p, o).ok);
  CHECK_THROWS_WITH(parse_text("model: R1,R9\nthreads: []\n", "f"), loco::test::contains_text("found \"R1,R9\""));
}

TEST_CASE("what each rule forbids, a set without it allows", "[corerma]") {
  // R1: u = 0 is the initial value, overwritten before (LO).
  CHECK(outcomes("A = 1; u = A", "corerma") == Texts{"u=1"});
  CHECK(outcomes("A = 1; u = A", "R2,LO,WS") == Texts{"u=0", "u=1"});
  // R2: u = 1 is written after the read (LO).
  CHECK(outcomes("u = A; A = 1", "corerma") == Texts{"u=0"});
  CHECK(outcomes("u = A; A = 1", "R1,LO,WS") == Texts{"u=0", "u=1"});
  // LO.
  CHECK(outcomes("u = A; A = 1", "R1,R2,WS") == Texts{"u=0", "u=1"});
  // PG: u = 1 is what the get read after B = 1, which comes after u (LO).
  CHECK(outcomes("A = get(B); u = A; B = 1", "corerma") == Texts{"u=0"});
  CHECK(outcomes("A = get(B); u = A; B = 1", "R1,R2,LO,WS") == Texts{"u=0", "u=1"});
  // F1 and F2: the get is over before u.
  CHECK(outcomes("B = 1; A = get(B); flush(1); u = A", "corerma") == Texts{"u=1"});
  CHECK(outcomes("B = 1; A = get(B); flush(1); u = A", "R1,R2,PG,LO,WS,F1") == Texts{"u=0", "u=1"});
  CHECK(outcomes("B = 1; A = get(B); flush(1); u = A", "R1,R2,PG,LO,WS,F2") == Texts{"u=0", "u=1"});
  // Without PG a get may store before it reads: what it reads then can only have come of something else.
  CHECK(outcomes("A = get(A); u = A", "R1,R2,LO,WS") == Texts{"u=0"});
  // WS: the last of two writes that nothing orders is either, of two that LO orders the second. Final values only.
  CHECK(outcomes("A = 1; A = 2", "R1,R2,LO", "A") == Texts{"A=2"});
  CHECK(outcomes("A = 1; A = 2", "R1,R2,WS", "A") == Texts{"A=1", "A=2"});
  // Without WS, R1 goes by hb: both reads may see either of two writes that it does not order, and change their minds.
  CHECK(outcomes("A = get(B); A = 1; u = A; v = A", "corerma") == Texts{"u=0 v=0", "u=1 v=0", "u=1 v=1"});
  CHECK(outcomes("A = get(B); A = 1; u = A; v = A", "R1,R2,F1,F2,F3,PG,GA,CAS,LO,IR") ==
        Texts{"u=0 v=0", "u=0 v=1", "u=1 v=0", "u=1 v=1"});
}

TEST_CASE("rules that the paper's set does not have", "[corerma]") {
  // SR: the put has read A before it is written.
  CHECK(outcomes("A = 1; put(C, A); A = 2", "corerma", "C") == Texts{"C=1", "C=2"});
  CHECK(outcomes("A = 1; put(C, A); A = 2", "corerma-aries", "C") == Texts{"C=1"});
  CHECK(outcomes("A = 1; put(C, A); A = get(B)", "corerma-aries", "C") == Texts{"C=1"});
  // PP, GG.
  CHECK(outcomes("A = 1; B = 2; put(C, A); put(C, B)", "corerma-unordered", "C") == Texts{"C=1", "C=2"});
  CHECK(outcomes("A = 1; B = 2; put(C, A); put(C, B)", "corerma-verbs", "C") == Texts{"C=2"});
  // AT: nobody sees B between what the accumulate reads and what it stores. With A = 1 added to B twice at once, ...
  const std::string twice = "A = 1; B = rga(B, A); flush(1); u = B";  // the old value of B, over the sum
  CHECK(outcomes(twice, "corerma") == Texts{"u=0"});
  CHECK(outcomes(twice, "corerma-ga-atomic") == Texts{"u=0"});
  // ... and u = A between the two writes of one step: the operand is read, 1 stored in B, A not yet overwritten by it.
  CHECK(outcomes("A = 1; A = rga(B, A); u = B; v = A", "corerma") == Texts{"u=0 v=0", "u=0 v=1", "u=1 v=0", "u=1 v=1"});
  CHECK(outcomes("A = 1; A = rga(B, A); u = B; v = A", "corerma-ga-atomic") == Texts{"u=0 v=0", "u=0 v=1", "u=1 v=0"});
}

TEST_CASE("why sets without WS, and with AT, forbid an outcome is told without consequences of the cycle",
          "[corerma]") {
  const auto cycles = [](const std::string& code, const std::string& model, const std::string& outcome) {
    const Program p =
        parse_text(
            "model: corerma\nlocations: {A: {node: 1}, B: {node: 1}}\nthreads: [{node: 1, code: \"" + code + "\"}]\n",
            "test")
            .front();
    Options o;
    o.model = model;
    std::string text;
    for (const Explanation& e : explain_forbidden(p, parse_outcome(p, outcome), o)) text += to_text(e);
    return text;
  };
  const std::string no_ws = cycles("A = get(B); flush(1); u = A; v = A; B = 1", "R1,R2,F1,F2,F3,PG,LO", "u=1 v=0");
  CHECK_THAT(no_ws, loco::test::contains_text("rf"));
  // The value 1 of B is written last (LO) and read first: by R2 alone, and no rb of a read to its own source.
  CHECK_THAT(no_ws, !loco::test::contains_text("reads a value that the next one overwrites"));
  CHECK_THAT(cycles("A = 1; A = rga(B, A); u = B; v = A", "corerma-ga-atomic", "u=1 v=1"),
             loco::test::contains_text("an accumulate is one step (AT)"));
}
