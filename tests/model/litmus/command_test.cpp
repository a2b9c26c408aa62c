// The command behind `loco-sim litmus`: output formats, verdicts, exit status, other engines.
#include "model/litmus/command.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

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
                           loco::test::contains_text("expected a statement of model rdmawait, found 'gf({2})'\n"));
  const Run none = run(other, options);
  CHECK(none.status == 2);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, loco::test::contains_text(":3:28: expected a statement of model rdmawait, found 'gf({2})'"));
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
  CHECK(j[0]["seconds"].is_number());
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
  CHECK(r.status == 0);
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

TEST_CASE("an outcome that a later test does not have is told before anything is printed", "[litmus]") {
  std::string other = kStoreBuffering;
  other.replace(other.find("name: sb"), 8, "name: other");
  other.replace(other.find("a = y"), 5, "c = y");
  other.replace(other.find("a: 0"), 4, "c: 0");
  CommandOptions options;
  options.witness = "a=0";
  const Run r = run(std::string(kStoreBuffering) + "---\n" + other, options);
  CHECK(r.status == 2);
  CHECK(r.out.empty());
  CHECK(r.err == "loco-sim litmus: --witness: test other: expected a register or final location, found 'a'\n");
}
