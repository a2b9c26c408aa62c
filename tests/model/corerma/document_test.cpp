// Generated tests as litmus documents: what they say is so.
#include "model/corerma/document.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/corerma/conversion.hpp"
#include "tests/model/corerma/naive.hpp"

using namespace loco::model::corerma;
namespace litmus = loco::model::litmus;

namespace {

/// Tests of several pivots, so many in all, evenly spread over sizes.
std::vector<Test> some_tests(std::size_t count, int size) {
  std::vector<Test> tests;
  const std::vector<std::pair<const char*, int>> kinds = {{"R1", 1}, {"R2", 2},  {"LO", 2}, {"PG", 2}, {"F1", 1},
                                                          {"F2", 1}, {"CAS", 1}, {"GA", 1}, {"GA", 2}, {"IR", 2}};
  for (const auto& [pivot, processes] : kinds) {
    GenerateOptions o;
    o.pivot = parse_pivot(pivot);
    o.processes = processes;
    o.size = o.pivot.rule == Rule::ir ? size + 1 : size;
    const std::uint64_t all = count_tests(o).tests;
    o.every = std::max<std::uint64_t>(1, all * kinds.size() / count);
    (void)Generator(o).run([&](const Test& test) {
      tests.push_back(test);
      return true;
    });
  }
  return tests;
}

/// What the model allows, by the naive enumerator, as the document's values.
std::vector<litmus::Outcome> naive(const Test& test, RuleSet rules, const litmus::Program& document) {
  std::vector<litmus::Outcome> outcomes;
  for (const auto& values : test::naive_outcomes(test::to_naive(test.program), test::to_naive(rules))) {
    const std::vector<long> v = test::to_document_values(test.program, values);
    litmus::Outcome outcome(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) {
      const std::string name = "u" + std::to_string(k);
      for (std::size_t i = 0; i < v.size(); ++i)
        if (document.observables[i].name == name) outcome[i] = v[k];
    }
    outcomes.push_back(outcome);
  }
  std::sort(outcomes.begin(), outcomes.end());
  return outcomes;
}

auto fields(const litmus::Instruction& i) {
  return std::tuple(i.op, i.library, i.atomic, i.target, i.location, i.source, i.operand, i.operand2, i.expr2, i.node,
                    i.object, i.work_id, i.jump, i.nodes, i.text);
}
auto fields(const litmus::Location& l) {
  return std::tuple(l.name, l.kind, l.node, l.init, l.fresh, l.tuple_size, l.relaxed, l.device);
}
auto fields(const litmus::Register& r) { return std::tuple(r.name, r.temporary); }
auto fields(const litmus::Observable& o) { return std::tuple(o.name, o.thread, o.reg, o.location, o.node, o.cells); }
auto fields(const litmus::Expr& e) { return std::tuple(e.op, e.constant, e.reg, e.lhs, e.rhs); }

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return fields(x) == fields(y); });
}

/// Tests compared under all of the rule sets.
std::size_t compare(const std::vector<Test>& tests, const std::vector<RuleSet>& sets) {
  for (const Test& test : tests) {
    const litmus::Program p = to_litmus(test, litmus::kCoreRma);
    for (const RuleSet rules : sets) {
      litmus::Options o;
      o.model = rules.text();
      INFO(bare_document(test, rules));
      REQUIRE(litmus::enumerate(p, o).outcomes == naive(test, rules, p));
    }
  }
  return tests.size();
}

}  // namespace

TEST_CASE("a document in full", "[corerma]") {
  GenerateOptions o;
  o.pivot = parse_pivot("R1");
  std::string text;
  (void)Generator(o).run([&](const Test& test) {
    text += document(test, o, expect(test, o));
    return true;
  });
  // u0 may not be 0: the local write comes before both reads (LO), and the initial value before it (R1).
  CHECK(text ==
        "name: R1-1x4-wa.ra.ra\n"
        "model: corerma\n"
        "locations: {A: {node: 0, init: 0}}\n"
        "threads:\n"
        "  - {node: 0, code: \"A = 1; u0 = A; u1 = A\"}\n"
        "outcomes_by_model:\n"
        "  corerma: [{u0: 1, u1: 1}]\n"
        "outcomes: {forbidden: [{u0: 0, u1: 1}]}\n"
        "# by R1: r A of `u0 = A` before w A of `A = 1`\n");
}

TEST_CASE("all statements in a document", "[corerma]") {
  Test test;
  test.name = "all";
  test.program = parse_program("wa.gab1.pab1.aaba1.cabac1.f1_rb");
  CHECK(bare_document(test, litmus::kCoreRma) ==
        "name: all\n"
        "model: corerma\n"
        "locations: {A: {node: 0, init: 1}, B: {node: 1, init: 10}, C: {node: 0, init: 100}}\n"
        "threads:\n"
        "  - {node: 0, code: \"A = 1000; A = get(B); put(B, A); A = rga(B, A); A = cas(B, A, C); flush(1)\"}\n"
        "  - {node: 1, code: \"u0 = B\"}\n");
  CHECK(to_litmus(test, litmus::kCoreRma).threads.size() == 2);
}

TEST_CASE("generated documents are valid, and the outcome that tells is allowed without the rule", "[corerma]") {
  std::size_t telling = 0;
  for (const char* pivot : {"R1", "R2", "LO", "PG", "F2"}) {
    GenerateOptions o;
    o.pivot = parse_pivot(pivot);
    o.size = o.pivot.rule == Rule::f2 ? 8 : 6;
    (void)Generator(o).run([&](const Test& test) {
      const Expectation e = expect(test, o);
      const std::string text = document(test, o, e);
      const auto programs = litmus::parse_text(text, "generated");
      INFO(text);
      REQUIRE(programs.size() == 1);
      CHECK(litmus::enumerate(programs[0]).ok);
      if (!e.forbidden) return true;
      ++telling;
      litmus::Options without;
      without.model = o.rules.without(o.pivot.rule).text();
      const auto outcomes = litmus::enumerate(programs[0], without).outcomes;
      CHECK(std::binary_search(outcomes.begin(), outcomes.end(), *e.forbidden));
      return true;
    });
  }
  CHECK(telling > 200);
}

TEST_CASE("outcomes of generated tests under three rule sets: the engine against a naive enumerator", "[corerma]") {
  const std::vector<RuleSet> sets = {litmus::kCoreRma, litmus::kCoreRmaVerbs, litmus::kCoreRmaUnordered};
  CHECK(compare(some_tests(150, 7), sets) >= 100);
}

TEST_CASE("outcomes of 1,000 generated tests under three rule sets", "[.long]") {
  const std::vector<RuleSet> sets = {litmus::kCoreRma, litmus::kCoreRmaVerbs, litmus::kCoreRmaUnordered};
  CHECK(compare(some_tests(1500, 8), sets) >= 1000);
}

TEST_CASE("outcomes under sets that lack rules of the paper's, or have more", "[corerma]") {
  std::vector<RuleSet> sets = {litmus::kCoreRmaAries, litmus::kCoreRmaGaAtomic,
                               litmus::kCoreRmaGaAtomic.without(Rule::ws),
                               litmus::kCoreRma.without(Rule::ws).without(Rule::r1), RuleSet()};
  for (const Rule r : litmus::kCoreRma.rules()) sets.push_back(litmus::kCoreRma.without(r));
  CHECK(compare(some_tests(60, 6), sets) >= 30);
}

TEST_CASE("outcomes under random sets of rules", "[.long]") {
  std::uint64_t state = 1;
  std::vector<RuleSet> sets;
  for (int k = 0; k < 30; ++k) {
    RuleSet rules;
    for (int r = 0; r < litmus::kRules; ++r) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      if ((state >> 33U) % 3 != 0) rules = rules.with(static_cast<Rule>(r));
    }
    sets.push_back(rules);
  }
  CHECK(compare(some_tests(400, 7), sets) >= 200);
}

TEST_CASE("a program is made as the parser makes it of the document") {
  std::set<litmus::Op> seen;
  for (const Test& test : some_tests(400, 9)) {
    const litmus::Program made = to_litmus(test, litmus::kCoreRma);
    const std::string text = bare_document(test, litmus::kCoreRma);
    const litmus::Program parsed = litmus::parse_text(text, test.name).front();
    INFO(text);
    REQUIRE(std::tuple(made.name, made.model, made.file, made.nodes) ==
            std::tuple(parsed.name, parsed.model, parsed.file, parsed.nodes));
    REQUIRE(same(made.locations, parsed.locations));
    REQUIRE(same(made.observables, parsed.observables));
    REQUIRE(made.threads.size() == parsed.threads.size());
    for (std::size_t t = 0; t < made.threads.size(); ++t) {
      REQUIRE(made.threads[t].node == parsed.threads[t].node);
      REQUIRE(same(made.threads[t].registers, parsed.threads[t].registers));
      REQUIRE(same(made.threads[t].code, parsed.threads[t].code));
      for (std::size_t i = 0; i < made.threads[t].code.size(); ++i) {
        const litmus::Instruction &a = made.threads[t].code[i], &b = parsed.threads[t].code[i];
        seen.insert(a.op);
        REQUIRE((a.expr == litmus::kNone) == (b.expr == litmus::kNone));
        if (a.expr != litmus::kNone)  // the parser numbers some that nothing uses
          REQUIRE(fields(litmus::at(made.exprs, a.expr)) == fields(litmus::at(parsed.exprs, b.expr)));
      }
    }
  }
  CHECK(seen.size() == kKinds);
}
