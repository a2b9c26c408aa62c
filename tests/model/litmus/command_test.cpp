// The command behind `loco-sim litmus`: output formats, verdicts, exit status, other engines.
#include "model/litmus/answers/command.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

#include "model/litmus/models/variants.hpp"
#include "tests/catch.hpp"

using namespace loco::model::litmus;

namespace {

const char* const kStoreBuffering = R"(name: sb
model: rdmawait
locations: {x: {node: 1}, y: {node: 1}}
threads:
  - {node: 1, code: "x = 1; a = y"}
  - {node: 1, code: "y = 1; b = x"}
outcomes: {allowed: [{a: 0, b: 0}]}
)";

class File {
 public:
  explicit File(const std::string& text) : path_("litmus-XXXXXX") {
    const int descriptor = mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Run {
  int status;
  std::string out, err;
};

Run run(const std::string& document, CommandOptions options = {}, const std::map<std::string, Engine>& engines = {}) {
  const File file(document);
  options.files = {file.path()};
  std::ostringstream out, err;
  const int status = run_litmus_command(options, engines, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("text output follows herd7", "[litmus]") {
  const Run r = run(kStoreBuffering);
  CHECK(r.status == 0);
  CHECK(r.out ==
        "Test sb Allowed\nStates 4\na=0; b=0;\na=0; b=1;\na=1; b=0;\na=1; b=1;\nOk\nObservation sb Sometimes 1 3\n\n");
}

TEST_CASE("a wrong expectation fails with status 1 and says what is missing or unexpected", "[litmus]") {
  std::string document = kStoreBuffering;
  document.replace(document.find("allowed: [{a: 0, b: 0}]"), 23, "allowed: [{a: 5}], forbidden: [{a: 1, b: 1}]");
  const Run r = run(document);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("No\nMissing: a=5\nUnexpected: a=1 b=1\n"));
}

TEST_CASE("tests that are none of the model are left out, and told", "[litmus]") {
  const std::string other =
      "name: other\nlocations: {x: {node: 1}}\nthreads: [{node: 1, code: \"gf({2})\"}, {node: 2}]\n";
  const std::string corerma =
      "name: far\nmodel: corerma\nlocations: {Y: {node: 2}, u: {node: 1}}\nthreads: [{node: 1, code: \"u = "
      "get(Y)\"}]\n";
  CommandOptions options;
  options.model = "rdmawait";
  const Run some = run(std::string(kStoreBuffering) + "---\n" + other + "---\n" + corerma, options);
  CHECK(some.status == 0);
  CHECK_THAT(some.out, loco::test::contains_text("Test sb") && !loco::test::contains_text("Test other") &&
                           !loco::test::contains_text("Test far"));
  CHECK_THAT(some.err, loco::test::contains_text("left out 2 tests that are none of model rdmawait, the first: ") &&
                           loco::test::contains_text("expected a statement of model rdmawait, found \"gf({2})\"\n"));
  const Run none = run(other, options);
  CHECK(none.status == 2);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, loco::test::contains_text(":3:28: expected a statement of model rdmawait, found \"gf({2})\""));
  // A statement of no model is a mistake all the same.
  const Run wrong =
      run(std::string(kStoreBuffering) + "---\nlocations: {x: {node: 1}}\nthreads: [{node: 1, code: \"fg({2})\"}]\n",
          options);
  CHECK(wrong.status == 2);
  CHECK(wrong.out.empty());
}

TEST_CASE("JSON has the fields of the format", "[litmus]") {
  CommandOptions options;
  options.json = true;
  const Run r = run(kStoreBuffering, options);
  const auto j = nlohmann::json::parse(r.out);
  REQUIRE(j.size() == 1);
  CHECK(j[0]["name"] == "sb");
  CHECK(j[0]["model"] == "rdmawait");
  CHECK(j[0]["engine"] == "declarative");
  CHECK(j[0]["outcomes"].size() == 4);
  CHECK(j[0]["outcomes"][0] == nlohmann::json({{"a", 0}, {"b", 0}}));
  CHECK(j[0]["executions"] == 4);
  CHECK(j[0]["verdict"] == "ok");
  CHECK(j[0]["missing"].empty());
  CHECK(j[0]["unexpected"].empty());
  CHECK_FALSE(j[0].contains("seconds"));  // a function of the test: results compare by their bytes
  options.times = true;
  CHECK(nlohmann::json::parse(run(kStoreBuffering, options).out)[0]["seconds"].is_number());
}

TEST_CASE("bad input is status 2 and one line with its place", "[litmus]") {
  const Run r = run("name: x\nthreads:\n  - {node: 1, code: \"a = \"}\n");
  CHECK(r.status == 2);
  CHECK_THAT(r.err, loco::test::contains_text(":3:26: expected an expression, found the end of the code"));
  CommandOptions options;
  options.engine = "hope";
  CHECK(run(kStoreBuffering, options).status == 2);
  options.engine = "declarative";
  options.model = "corerma";
  CHECK(run(kStoreBuffering, options).status == 2);
}

TEST_CASE("engines are compared, and what is not allowed fails", "[litmus]") {
  bool honest = true;
  const Engine fake = [&](const Program&, const EngineOptions& o) {
    Result r;
    r.outcomes = {{0, 1}};
    if (!honest) r.outcomes.push_back({7, 7});
    r.counts.assign(r.outcomes.size(), o.runs);
    return r;
  };
  CommandOptions options;
  options.engine = "all";
  options.engine_options.runs = 10;
  Run r = run(kStoreBuffering, options, {{"sample", fake}});
  CHECK(r.status == 0);
  CHECK_THAT(r.out, loco::test::contains_text("a=0 b=1: allowed, sampled 10"));
  CHECK_THAT(r.out, loco::test::contains_text("a=1 b=1: allowed, not sampled"));
  CHECK_THAT(r.out, loco::test::contains_text("Coverage sample: 1 of 4 allowed outcomes (25 %)"));
  honest = false;
  r = run(kStoreBuffering, options, {{"sample", fake}});
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("unexpected (sample): a=7 b=7 (not allowed by rdmawait)"));
}

// The loop counts to 5, one more than it may repeat: an engine that runs it to its end does nothing wrong.
TEST_CASE("where loops were cut, what an engine shows besides is not said to be forbidden", "[litmus]") {
  const char* const counts = R"(name: counts
model: rdmawait
locations: {x: {node: 1}}
threads: [{node: 1, code: "while (c < 5) { c = c + 1 }; a = x"}]
)";
  const Engine runs_it = [](const Program&, const EngineOptions&) {
    Result r;
    r.outcomes = {{5, 0}};
    return r;
  };
  CommandOptions options;
  options.engine = "all";
  Run r = run(counts, options, {{"sample", runs_it}});
  CHECK(r.status == 1);  // the declarative engine has seen no execution at all
  CHECK_THAT(r.out, loco::test::contains_text("c=5 a=0: not known to be allowed, sampled"));
  CHECK_THAT(r.out, loco::test::contains_text("note (declarative): loops were cut after 4 repetitions"));
  options.engine = "declarative";
  options.json = true;
  r = run(counts, options);
  CHECK(nlohmann::json::parse(r.out)[0]["complete"] == false);
}

TEST_CASE("a failing assertion is reported", "[litmus]") {
  const Run r =
      run("name: t\nlocations: {x: {node: 1}}\nthreads:\n  - {node: 1, code: \"x = 1\"}\n"
          "  - {node: 1, code: \"a = x; assert(a == 1)\"}\n");
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("assertion fails: assert(a == 1) (line 5)"));
}

namespace {

/// Store buffering, and the same with another register.
std::string two_tests() {
  std::string other = kStoreBuffering;
  other.replace(other.find("name: sb"), 8, "name: other");
  other.replace(other.find("a = y"), 5, "c = y");
  other.replace(other.find("a: 0"), 4, "c: 0");
  return std::string(kStoreBuffering) + "---\n" + other;
}

}  // namespace

TEST_CASE("an outcome is shown of the tests that have it, and refused when none has", "[litmus]") {
  CommandOptions options;
  options.witness = "a=0";
  const Run some = run(two_tests(), options);
  CHECK(some.status == 0);
  CHECK_THAT(some.out, loco::test::contains_text("sb: a=0 b=0 is allowed") && !loco::test::contains_text("other:"));
  CHECK(some.err ==
        "left out 1 test without such an outcome, the first: loco-sim litmus: --witness: test other: expected a "
        "register or final location, found \"a\"\n");
  options.witness = "e=0";
  const Run none = run(two_tests(), options);
  CHECK(none.status == 2);
  CHECK(none.out.empty());
  CHECK(none.err == "loco-sim litmus: --witness: test sb: expected a register or final location, found \"e\"\n");
}

TEST_CASE("tests are chosen by name", "[litmus]") {
  CommandOptions options;
  options.tests = {"other"};
  const Run one = run(two_tests(), options);
  CHECK(one.status == 0);
  CHECK_THAT(one.out, loco::test::contains_text("Test other") && !loco::test::contains_text("Test sb"));
  options.tests = {"othre"};
  const Run none = run(two_tests(), options);
  CHECK(none.status == 2);
  CHECK(none.err == "loco-sim litmus: --test: expected the name of a test, found \"othre\"; did you mean \"other\"?\n");
}

TEST_CASE("a folder is its documents, in the order of their names", "[litmus]") {
  namespace fs = std::filesystem;
  std::string folder = "litmus-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  std::string second = kStoreBuffering;
  second.replace(second.find("name: sb"), 8, "name: later");
  std::ofstream(fs::path(folder) / "b.yaml") << second;
  std::ofstream(fs::path(folder) / "a.yaml") << kStoreBuffering;
  std::ofstream(fs::path(folder) / "README.md") << "no test";
  CommandOptions options;
  options.files = {folder};
  std::ostringstream out, err;
  CHECK(run_litmus_command(options, {}, out, err) == 0);
  CHECK(out.str().find("Test sb") < out.str().find("Test later"));
  fs::remove(fs::path(folder) / "a.yaml");
  fs::remove(fs::path(folder) / "b.yaml");
  CHECK(run_litmus_command(options, {}, out, err) == 2);
  CHECK(err.str() == folder + ": expected a folder with litmus documents (*.yaml, *.litmus), found none\n");
  fs::remove_all(folder);
}

// What herd7 calls Always, Sometimes and Never: one condition holds in all, some or none of the states. Store buffering
// has four states; a=0 holds in two of them, a=0 and b=0 in one, a=7 in none.
TEST_CASE("an observation is of one condition, in all, some or none of the states", "[litmus]") {
  std::string document = kStoreBuffering;
  document.replace(document.find("allowed: [{a: 0, b: 0}]"), 23,
                   "allowed: [{a: 0}, {a: 0, b: 0}], forbidden: [{a: 7}]");
  CHECK_THAT(run(document).out, loco::test::contains_text("Condition exists (a=0)\nObservation sb Sometimes 2 2\n"
                                                          "Condition exists (a=0 /\\ b=0)\n"
                                                          "Observation sb Sometimes 1 3\n"
                                                          "Condition exists (a=7)\nObservation sb Never 0 4\n"));
  std::string all = kStoreBuffering;
  all.replace(all.find("outcomes: {allowed: [{a: 0, b: 0}]}\n"), 36, "");
  CHECK_THAT(run(all).out, loco::test::contains_text("Ok\nObservation sb Always 4 0\n"));
}

// Two threads that loop over one word with compare-and-swap: far too many ways through the code for a millisecond.
TEST_CASE("a limit of time holds, and what it cuts short is not ok", "[litmus]") {
  std::string document = "name: loop\nmodel: rdmawait\nlocations: {x: {node: 0}}\nthreads:\n";
  for (int i = 0; i < 8; ++i)
    document += "  - {node: 0, code: \"while (x == 0) { x = " + std::to_string(i) + "; a" + std::to_string(i) +
                " = cas(x, 0, 1) }\"}\n";
  CommandOptions options;
  options.engine_options.max_seconds = 0.001;
  Run r = run(document, options);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("Incomplete\n") &&
                        loco::test::contains_text("Note: stopped early by the limit of 0.001 s, after "));
  options.json = true;
  const auto j = nlohmann::json::parse(run(document, options).out);
  CHECK(j[0]["verdict"] == "incomplete");
  CHECK(j[0]["complete"] == false);
  options.json = false;
  options.explain = "a0=7";
  r = run(document, options);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("is not known to be possible: stopped early by the limit of 0.001 s"));
}

TEST_CASE("what an engine cannot run is not ok", "[litmus]") {
  const Engine refuses = [](const Program&, const EngineOptions&) {
    Result r;
    r.ran = r.complete = false;
    r.notes.emplace_back("not run: it cannot");
    return r;
  };
  CommandOptions options;
  options.engine = "explore";
  Run r = run(kStoreBuffering, options, {{"explore", refuses}});
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("Not run\nNote: not run: it cannot\n") &&
                        !loco::test::contains_text("Ok") && !loco::test::contains_text("Observation"));
  options.engine = "all";
  r = run(kStoreBuffering, options, {{"explore", refuses}});
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("not run (explore)"));
  options.json = true;
  CHECK(nlohmann::json::parse(run(kStoreBuffering, options, {{"explore", refuses}}).out)[1]["verdict"] == "not run");
}

// 10 threads with a put (2) and a barrier of 10 nodes (10 + 1) each, and one read.
TEST_CASE("a test that is too large says which limit it meets, what counts, and how much of it there is", "[litmus]") {
  std::string document =
      "name: wide\nmodel: loco\nlocations: {x: {node: 0}}\nbarriers: {b: [0,1,2,3,4,5,6,7,8,9]}\nthreads:\n";
  document += "  - {node: 0, code: \"put(x, 1); barrier(b); a0 = x\"}\n";
  for (int i = 1; i < 10; ++i) document += "  - {node: " + std::to_string(i) + ", code: \"put(x, 1); barrier(b)\"}\n";
  const Run r = run(document);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("Incomplete\n") &&
                        loco::test::contains_text("131 accesses, fences and waits in one execution, of 128 at most"));
}

// Fig. 10: a read stays behind an earlier write of another word only by B1 of issue order, not by a cell of `to`. With
// B1 turned round, the write is in memory before the read, and store buffering is gone.
TEST_CASE("a cell of the stamp order can be turned round", "[litmus]") {
  CommandOptions options;
  flip_cell("B1", options.declarative.model_options.order);
  const Run r = run(kStoreBuffering, options);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, loco::test::contains_text("States 3\n") && loco::test::contains_text("Missing: a=0 b=0\n"));
  loco::model::StampOrder order = loco::model::kStampOrder;
  for (const char* wrong : {"", "E", "E0", "E13", "M1", "e8", "E8x", "8E"})
    CHECK_THROWS_AS(flip_cell(wrong, order), std::invalid_argument);
}

TEST_CASE("variants of the models have names", "[litmus]") {
  ModelOptions options;
  choose_variant("transitive-barriers", options);
  choose_variant("weak-ring-buffers", options);
  CHECK(options.transitive_barriers);
  CHECK(options.ring_rule == RingRule::weak);
  CHECK_THROWS_AS(choose_variant("weak", options), std::invalid_argument);
}
