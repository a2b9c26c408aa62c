// The generator finds every test once, in order, and can go on from any of them.
#include "model/corerma/generate.hpp"

#include <map>

#include "tests/catch.hpp"
#include "tests/model/corerma/conversion.hpp"
#include "tests/model/corerma/naive.hpp"

using namespace loco::model::corerma;
using loco::model::litmus::kCoreRma;
using loco::model::litmus::kCoreRmaGaAtomic;
using loco::model::litmus::kCoreRmaVerbs;

namespace {

GenerateOptions question(const char* pivot, int processes, int size) {
  GenerateOptions o;
  o.pivot = parse_pivot(pivot);
  o.processes = processes;
  o.size = size;
  return o;
}

const std::vector<const char*> kPivots = {"R1", "R2", "F1", "F2",  "F3",    "IR",   "GA",
                                          "PG", "LO", "WS", "CAS", "CAS-T", "CAS-F"};

/// Both enumerators, for all pivots and both readings of Section 6.1, at one size.
void compare(int processes, int hosts, int size, const char* statements, RuleSet rules,
             const std::vector<const char*>& pivots) {
  test::NaiveQuestion naive;
  naive.processes = processes;
  naive.hosts = hosts;
  naive.statements = statements;
  naive.rules = test::to_naive(rules);
  const std::set<test::NaiveProgram> programs = test::naive_programs(naive, size);
  for (const char* pivot : pivots) {
    for (const bool one : {false, true}) {
      naive.pivot = pivot;
      naive.one = one;
      GenerateOptions o = question(pivot, processes, size);
      o.hosts = hosts;
      o.rules = rules;
      o.reads = one ? Reads::one : Reads::any;
      for (std::size_t k = 0; k < o.statements.size(); ++k)
        o.statements[k] = naive.statements.find(kKindLetters[k][0]) != std::string::npos;
      INFO(pivot << ", " << rules.text() << ", " << processes << " processes, " << hosts << " hosts, size " << size
                 << (one ? ", one read" : ""));
      CHECK((test::generated(o, size) == test::naive_tests(naive, programs)));
    }
  }
}

std::vector<std::string> names(const GenerateOptions& options) {
  std::vector<std::string> all;
  (void)Generator(options).run([&](const Test& test) {
    all.push_back(test.name);
    return true;
  });
  return all;
}

}  // namespace

TEST_CASE("counts at small sizes, by hand and by an enumerator of another hand", "[corerma]") {
  // Size 3: `u = X; X = 1` where u reads 1, against LO or R2. Size 4, R1: `X = 1; u = X; v = X` where u reads the
  // initial value. Size 4, LO: the first with a flush in front or at the end, or with one more read in any place.
  struct Row {
    const char* pivot;
    int processes;
    std::array<std::uint64_t, 3> by_size;  // 3, 4, 5
  };
  const std::array<Row, 8> rows = {{{"LO", 1, {1, 5, 23}},
                                    {"R2", 1, {1, 9, 43}},
                                    {"R1", 1, {0, 1, 9}},
                                    {"PG", 1, {0, 2, 10}},
                                    {"LO", 2, {0, 2, 19}},
                                    {"R2", 2, {0, 2, 29}},
                                    {"R1", 2, {0, 0, 2}},
                                    {"PG", 2, {0, 0, 4}}}};
  for (const Row& row : rows) {
    INFO(row.pivot << " " << row.processes);
    const Counts counts = count_tests(question(row.pivot, row.processes, 5));
    CHECK(counts.by_size == std::vector<std::uint64_t>(row.by_size.begin(), row.by_size.end()));
    CHECK(counts.tests == row.by_size[0] + row.by_size[1] + row.by_size[2]);
  }
}

TEST_CASE("the generator agrees with the naive enumerator", "[corerma]") {
  for (int size = 3; size <= 6; ++size) compare(1, 1, size, "rwgpacf", kCoreRma, kPivots);
  for (int size = 3; size <= 5; ++size) compare(2, 2, size, "rwgpacf", kCoreRma, kPivots);
  compare(1, 2, 5, "rwgpacf", kCoreRma, kPivots);
  compare(2, 3, 5, "rwgpf", kCoreRma, kPivots);
  compare(3, 3, 5, "rwgf", kCoreRma, {"R1", "R2", "LO", "PG"});
}

TEST_CASE("the generator agrees with the naive enumerator at sizes up to 7", "[.long]") {
  compare(1, 1, 7, "rwgpacf", kCoreRma, kPivots);
  compare(2, 2, 6, "rwgpacf", kCoreRma, kPivots);
  compare(2, 2, 7, "rwgpacf", kCoreRma, kPivots);
  compare(1, 3, 6, "rwgpf", kCoreRma, kPivots);
  compare(2, 3, 6, "rwgpf", kCoreRma, kPivots);
  compare(3, 3, 6, "rwgpf", kCoreRma, kPivots);
  compare(1, 1, 8, "rwgaf", kCoreRma, {"GA", "R1", "F2"});
}

TEST_CASE("the generator agrees with the naive enumerator under other rules", "[corerma]") {
  compare(1, 1, 6, "rwgpf", {Rule::r1, Rule::r2, Rule::lo, Rule::ws}, {"R1", "R2", "LO", "WS"});
  compare(1, 1, 5, "rwgpf", {Rule::r1, Rule::r2, Rule::lo, Rule::pg, Rule::f1, Rule::f2}, {"R1", "R2", "LO", "PG"});
  compare(1, 1, 6, "rwf", {Rule::r2, Rule::lo, Rule::ws}, {"R2", "LO", "WS"});  // without R1, WS is on its own
  compare(2, 2, 5, "rwgpf", kCoreRmaVerbs, {"PP", "GG", "F1", "PG"});
  compare(2, 2, 5, "rwgpf", kCoreRma.with(Rule::sr), {"SR", "LO", "F1", "F3"});
  compare(1, 1, 6, "rwa", kCoreRmaGaAtomic, {"GA", "R1", "R2", "LO"});
}

TEST_CASE("what networks may keep, as pivots", "[corerma]") {
  RuleSet all = kCoreRma.without(Rule::ir);
  for (int r = 0; r < loco::model::litmus::kRules; ++r)
    if (static_cast<Rule>(r) != Rule::at && static_cast<Rule>(r) != Rule::ir) all = all.with(static_cast<Rule>(r));
  const std::vector<const char*> pivots = {"PP", "GG", "PTG", "GTP", "PTA", "AO", "GTA",
                                           "SO", "OA", "SF",  "RL",  "FA",  "SR"};
  compare(1, 1, 6, "rgpaf", all, pivots);
  compare(2, 2, 5, "rwgpf", all, pivots);
  for (const Rule rule :
       {Rule::ptg, Rule::gtp, Rule::pta, Rule::ao, Rule::gta, Rule::oa, Rule::sf, Rule::rl, Rule::fa}) {
    const std::string name(loco::model::litmus::name(rule));
    compare(1, 1, 6, "rgpa", kCoreRmaVerbs.with(Rule::so).with(rule), {name.c_str(), "SO", "PP"});
  }
}

TEST_CASE("what networks may keep, larger programs", "[.long]") {
  const RuleSet some = kCoreRmaVerbs.with(Rule::ptg).with(Rule::pta).with(Rule::ao).with(Rule::sf).with(Rule::rl);
  compare(1, 1, 7, "rwgpaf", some.with(Rule::so), {"PP", "GG", "PTG", "PTA", "AO", "SO", "SF", "RL", "F3"});
  compare(2, 2, 7, "rwgp", some, {"PP", "GG", "PTG", "SF", "RL"});
  compare(1, 1, 8, "rwap", some.with(Rule::oa), {"PTA", "AO", "OA", "SF", "RL"});
}

TEST_CASE("other rules, larger programs", "[.long]") {
  compare(1, 1, 7, "rwgpf", {Rule::r1, Rule::r2, Rule::lo, Rule::pg, Rule::f1, Rule::f2},
          {"R1", "R2", "LO", "PG", "F1"});
  compare(2, 2, 7, "rwgpf", kCoreRmaVerbs, {"PP", "GG", "F1", "PG"});
  compare(1, 1, 7, "rwgpf", kCoreRma.with(Rule::sr), {"SR", "LO", "F1", "F3"});
  compare(1, 1, 8, "rwa", kCoreRmaGaAtomic, {"GA", "R1", "R2", "LO"});
  compare(1, 1, 7, "rwgaf", kCoreRmaGaAtomic.without(Rule::ws), {"GA", "R1", "R2", "LO", "F2"});
}

TEST_CASE("WS never matters by itself: a read of the earlier writer orders the two as well", "[corerma]") {
  // Every writer w1 has a local read u; R2 puts w1 before u, R1 puts u before each later writer w2.
  CHECK(count_tests(question("WS", 1, 8)).tests == 0);
  CHECK(count_tests(question("WS", 2, 7)).tests == 0);
  GenerateOptions alone = question("WS", 1, 7);
  alone.rules = kCoreRma.without(Rule::r1);
  CHECK(count_tests(alone).tests > 0);
}

TEST_CASE("tests come in order, and each can be gone on from", "[corerma]") {
  GenerateOptions o = question("R2", 2, 6);
  const std::vector<std::string> all = names(o);
  REQUIRE(all.size() == 271);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const auto program = [&](std::size_t k) { return parse_program(all[k].substr(all[k].rfind('-') + 1)); };
    CHECK(before(program(i), program(i + 1)));
    CHECK(is_canonical(program(i)));
  }
  for (std::size_t i = 0; i < all.size(); i += 7) {
    o.after = all[i];
    CHECK(names(o) == std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()));
  }
  o.after =
      "R2-2x3-wa.ra_f1";  // whatever there is after a program that is no test: size 3 holds none with two processes
  CHECK_THROWS_AS(names(o), std::invalid_argument);
  o.after = "R2-2x4-f0_f0";
  CHECK_THROWS_AS(names(o), std::invalid_argument);
}

TEST_CASE("limits and samples", "[corerma]") {
  GenerateOptions o = question("R1", 1, 7);
  const std::vector<std::string> all = names(o);
  o.limit = 10;
  CHECK(names(o) == std::vector<std::string>(all.begin(), all.begin() + 10));
  o.limit = 0;
  o.every = 40;
  const std::vector<std::string> some = names(o);
  REQUIRE(some.size() == (all.size() + 39) / 40);
  CHECK(some[3] == all[120]);
}

TEST_CASE("what cannot be generated is refused", "[corerma]") {
  const auto error = [](GenerateOptions o) -> std::string {
    try {
      Generator generator(std::move(o));
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  GenerateOptions o = question("IR", 1, 5);
  o.rules = kCoreRmaVerbs;
  CHECK(error(o) == "--pivot: expected one of the rules R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS,PP,GG, found \"IR\"");
  o = question("R1", 5, 5);
  CHECK(error(o) == "--processes: expected a number from 1 to 4, found 5");
  o = question("R1", 2, 5);
  o.hosts = 1;
  CHECK(error(o) == "--hosts: expected a number from 2 to 8, found 1");
  CHECK(error(question("R1", 1, 25)) == "--size: expected a number from 3 to 24, found 25");
  o = question("R1", 1, 5);
  o.after = "R2-1x3-ra.wa";
  CHECK(error(o) == "--after: expected the name of a test, R1-1xSIZE-PROGRAM, found \"R2-1x3-ra.wa\"");
  CHECK_THROWS_WITH(parse_pivot("R9"), loco::test::contains_text("CAS-T, CAS-F), found \"R9\"; did you mean \"R1\"?"));
  CHECK_THROWS_WITH(parse_statements("read,wirte"),
                    "--statements: expected some of read, write, get, put, rga, cas, "
                    "flush, found \"wirte\"; did you mean \"write\"?");
}

TEST_CASE("estimates of the programs to look at are near", "[corerma]") {
  for (const auto& [pivot, processes, size] : {std::tuple{"R1", 1, 9}, {"F1", 2, 9}, {"GA", 2, 10}}) {
    const GenerateOptions o = question(pivot, processes, size);
    const double ratio = estimated_programs(o) / static_cast<double>(count_tests(o).programs);
    INFO(pivot << ": " << ratio);
    CHECK(ratio > 0.5);
    CHECK(ratio < 2);
  }
  CHECK(estimated_programs(question("R1", 2, 20)) > kProgramsWithinReach);
}
