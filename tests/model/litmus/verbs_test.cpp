// Model `verbs`: the corpus of tests/litmus/verbs, its races, and that each cell is seen by its test.
#include <algorithm>
#include <string>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/litmus/models/variants.hpp"
#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/random_program.hpp"
#include "text/file.hpp"

using namespace loco::model::litmus;

namespace {

std::vector<Program> corpus() { return parse_file(test::corpus_folder() + "/verbs/verbs.yaml"); }
std::vector<Program> unreliable() { return parse_file(test::corpus_folder() + "/verbs/unreliable.yaml"); }

}  // namespace

TEST_CASE("verbs: every test has the outcomes and the races that it expects", "[verbs]") {
  std::size_t tests = 0, races = 0;
  for (const Program& p : corpus()) {
    const Result r = enumerate(p);
    INFO(p.name << "\n" << to_herd_text(p, r));
    CHECK(verdict_of(r) == Verdict::ok);
    ++tests;
    races += p.verbs.judges_races ? 1 : 0;
  }
  CHECK(tests == 124);
  CHECK(races >= 20);
}

TEST_CASE("verbs: unreliable queue pairs have the outcomes that are derived beside their tests", "[verbs]") {
  for (const Program& p : unreliable()) {
    const Result r = enumerate(p);
    INFO(p.name << "\n" << to_herd_text(p, r));
    CHECK(verdict_of(r) == Verdict::ok);
  }
}

TEST_CASE("verbs: what a transport does not carry is refused in its place", "[verbs]") {
  const auto problem = [](const std::string& type, const std::string& code) {
    try {
      (void)parse_text(
          "model: verbs\nlocations: {x: {node: 2}, u: {node: 1}}\nqps: {q: {node: 1, peer: p, type: " + type +
              "}, p: {node: 2, peer: q, type: " + type + "}}\nthreads:\n- {node: 1, code: '" + code + "'}\n",
          "f");
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(problem("uc", "put(x, 1) on q; sendimm(q, u, 3) inline unsignaled") == "accepted");
  CHECK(problem("ud", "send(q, u)") == "accepted");
  for (const char* code : {"get(u, x) on q", "rfaa(u, x, 1) on q", "put(x, 1) on q fence"})
    CHECK_THAT(problem("uc", code), loco::test::contains_text("f:5:") && loco::test::contains_text("uc"));
  CHECK_THAT(problem("ud", "put(x, 1) on q"), loco::test::contains_text("q is of type ud"));
  CHECK_THAT(problem("xrc", "send(q, u)"), loco::test::contains_text("expected rc, uc or ud"));
}

TEST_CASE("verbs: the flip of a cell turns the verdict of the test that is named after it", "[verbs]") {
  std::size_t cells = 0;
  for (const Program& p : corpus()) {
    if (!p.name.starts_with("vc-")) continue;
    Options o;
    flip_cell(p.name.substr(3), o.model_options);
    INFO(p.name);
    CHECK_FALSE(enumerate(p, o).ok);
    ++cells;
  }
  CHECK(cells >= 70);
}

TEST_CASE("verbs: executions satisfy the definition evaluated in relation algebra", "[verbs]") {
  for (const Program& p : corpus()) {
    std::uint64_t seen = 0, bad = 0;
    (void)search(p, *find_model("verbs"), {}, {}, [&](const FoundExecution& f) {
      if (!consistent(*f.skeleton, *f.axioms, f.witness)) ++bad;
      return ++seen < 50;
    });
    INFO(p.name << ", of " << seen);
    CHECK(bad == 0);
  }
}

TEST_CASE("verbs: a forbidden outcome has a cycle in the words of the model", "[verbs]") {
  const auto explained = [](const std::string& name) {
    for (const Program& p : corpus())
      if (p.name == name) return to_text(explain_forbidden(p, p.forbidden.front()).front());
    return std::string();
  };
  CHECK_THAT(explained("vq02-flag-in-a-separate-write-same-queue-pair"),
             loco::test::contains_text("program order, cell G7") && loco::test::contains_text("aNRW_q"));
  CHECK_THAT(explained("vq05-write-then-send"), loco::test::contains_text("the poll takes this completion"));
}

TEST_CASE("verbs: programs without named queue pairs are rdmatso's", "[verbs]") {
  const std::string file = test::corpus_folder() + "/polls.yaml";
  const std::string text = loco::text::read_file(file, kFileBytesMax);
  std::string as_verbs = text;
  for (std::size_t at = 0; (at = as_verbs.find("rdmatso", at)) != std::string::npos;) as_verbs.replace(at, 7, "verbs");
  const std::vector<Program> tso = parse_text(text, file), verbs = parse_text(as_verbs, file);
  REQUIRE(tso.size() == verbs.size());
  REQUIRE(tso.size() >= 20);
  for (std::size_t i = 0; i < tso.size(); ++i) {
    INFO(tso[i].name);
    CHECK(enumerate(verbs[i]).outcomes == enumerate(tso[i]).outcomes);
  }
}

TEST_CASE("verbs: regions mean the same in rdmatso", "[verbs]") {
  std::size_t changed = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const test::RandomShape shape{.model = "rdmatso", .total_max = 7, .atomics = seed % 2 == 0};
    const std::string plain = test::random_document(seed, shape);
    std::string regions = plain;
    std::uint64_t bits = seed * 0x9E3779B97F4A7C15ULL >> 32U;
    for (std::size_t at = regions.find("{node: "); at < regions.find("threads:");
         at = regions.find("{node: ", at + 1)) {
      if ((bits & 1U) != 0) regions.insert(at + 1, "relaxed: true, ");
      if ((bits & 6U) == 6U) regions.insert(at + 1, "memory: device, ");
      bits >>= 3U;
    }
    std::string as_verbs = regions;
    as_verbs.replace(as_verbs.find("rdmatso"), 7, "verbs");
    INFO(regions);
    const auto outcomes = enumerate(parse_text(regions, "random").front()).outcomes;
    CHECK(enumerate(parse_text(as_verbs, "random").front()).outcomes == outcomes);
    changed += outcomes == enumerate(parse_text(plain, "random").front()).outcomes ? 0U : 1U;
  }
  CHECK(changed >= 3);
}

TEST_CASE("polls of rdmatso tell the identifier of what they take (LOCO paper, Appendix G.1)", "[verbs]") {
  const Program p = parse_text(
                        "model: rdmatso\nlocations: {x: {node: 2}, y: {node: 3}, u: {node: 1}}\nthreads:\n"
                        "- {node: 1, code: 'put(x, 1) as d; get(u, y) as 7; get(u, x); a = poll(2); b = poll(3); "
                        "c = poll(2)'}\noutcomes_by_model: {rdmatso: [{a: d, b: 7, c: _}]}\n",
                        "test")
                        .front();
  const Result r = enumerate(p);
  INFO(to_herd_text(p, r));
  CHECK(verdict_of(r) == Verdict::ok);
}
