// The engines as the litmus command sees them: limits are told, exclusions named, comparison fails on what is not
// allowed.
#include "loco_sim/explore/engines.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/ruled_out.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"

using namespace loco;
using model::litmus::EngineOptions;
using model::litmus::Result;

namespace {

// Models page, section 3: rdmawait allows a=0, since the put may complete before the get; hardware completes in order.
constexpr const char* kOvertaking = R"yaml(
name: put-completes-first
model: rdmawait
locations: {x: {node: 1}, w: {node: 2}, z: {node: 2, init: 1}}
threads: [{node: 1, code: "get(x, z) as e; put(w, 1) as d; wait(d); a = x"}]
)yaml";

constexpr const char* kTwoThreads = R"yaml(
name: store-buffering
model: rdmawait
locations: {x: {node: 2}, y: {node: 1}}
threads: [{node: 1, code: "put(x, 1); a = y"}, {node: 2, code: "put(y, 1); b = x"}]
)yaml";

Result run(const char* engine, const char* document, EngineOptions options = {}) {
  const auto program = model::litmus::parse_text(document, "test").front();
  options.model = program.model;
  return explore::engines().at(engine)(program, options);
}

}  // namespace

TEST_CASE("what in-order completion excludes is named") {
  const Result r = run("explore", kOvertaking);
  REQUIRE(r.outcomes.size() == 1);
  CHECK(r.outcomes[0] == model::litmus::Outcome{1});
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0] == "in-order completion excludes 1 allowed outcome: a=0");
  CHECK(r.complete);
}

// Fig. 4 (top) of the LOCO paper: a and b are read after the own put is acknowledged. Where posted writes of all queue
// pairs keep one order, the acknowledgement's CQE is behind the other's put if that came first (docs/machine.md, PCIe).
TEST_CASE("what a real profile rules out is named, with the mechanism") {
  constexpr const char* kWaits = R"yaml(
name: fig4-top
model: rdmawait
locations: {x: {node: 2}, y: {node: 1}}
threads:
  - {node: 1, code: "put(x, 1) as d; wait(d); a = y"}
  - {node: 2, code: "put(y, 1) as e; wait(e); b = x"}
)yaml";
  EngineOptions options;
  options.hardware = "cx5-roce-25g";
  const Result r = run("explore", kWaits, options);
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0] == "cx5-roce-25g rules out 1 outcome that model-weak shows: a=0 b=0 (by pcie.ordering_domain)");
  CHECK(run("explore", kWaits).notes.empty());
}

TEST_CASE("a search that a limit stops says so") {
  EngineOptions options;
  options.max_executions = 1;
  const Result r = run("explore", kTwoThreads, options);
  CHECK_FALSE(r.complete);
  REQUIRE(r.notes.size() == 2);
  CHECK_THAT(r.notes[0], test::contains_text("stopped early by the limit of 1 execution"));
  CHECK(r.notes[1] == "not compared with in-order completion: the limit of executions was reached");
  CHECK(run("explore", kTwoThreads).complete);
}

TEST_CASE("sampling counts its runs and repeats with its seed") {
  EngineOptions options;
  options.runs = 500;
  options.seed = 7;
  const Result r = run("sample", kTwoThreads, options);
  CHECK(r.executions == 500);
  std::uint64_t sum = 0;
  for (const std::uint64_t n : r.counts) sum += n;
  CHECK(sum == 500);
  CHECK(r.counts == run("sample", kTwoThreads, options).counts);
}

TEST_CASE("sampling looks at its limits while it looks ahead, and shows what is known before it looks further") {
  // Four threads read four words in turn, each written by a node of its own: thousands of outcomes, and hundreds of
  // choices looked ahead for each of them.
  std::string document =
      "model: rdmawait\nlocations: {x0: {node: 1}, x1: {node: 1}, x2: {node: 1}, x3: {node: 1}}\nthreads:\n";
  for (int n = 0; n < 4; ++n)
    document += fmt::format(
        "- {{node: {}, code: \"put(x{}, {})\"}}\n- {{node: 1, code: \"a{} = x{}; b{} = x{}; c{} = x{}\"}}\n", n + 2, n,
        n + 1, n, n, n, (n + 1) % 4, n, (n + 2) % 4);
  const auto program = model::litmus::parse_text(document, "test").front();
  const explore::Machine machine(program, nic::HardwareProfile{});
  struct Ended {};
  for (const std::uint64_t after : {1U, 20U, 40U}) {
    std::uint64_t asked = 0;
    const explore::SampleLimits limits{.poll = [&] {
      if (++asked == after) throw Ended{};
    }};
    CHECK_THROWS_AS(explore::sample(machine, 18, 1, limits), Ended);  // the second run is the first to look ahead
  }
  CHECK(explore::sample(machine, 200, 1).outcomes.size() > 100);
}

TEST_CASE("coreRMA runs, and what hardware cannot run is told as not run") {
  constexpr const char* kAccumulates = R"yaml(
name: corerma
model: corerma
locations: {X: {node: 1}, Y: {node: 2, init: 3}}
threads: [{node: 1, code: "X = rga(Y, X); flush(2); a = X"}, {node: 2, code: ""}]
)yaml";
  for (const char* engine : {"explore", "sample"}) {
    const Result r = run(engine, kAccumulates);
    CHECK(r.outcomes == std::vector<model::litmus::Outcome>{{3}});
    CHECK(r.complete);
    CHECK(r.notes.empty());
    // docs/atomics.md, nic.atomic_cap: posting fails as verbs do, the test is not run.
    const Result none = run(engine, kAccumulates, {.model = {}, .hardware = "efa-srd-like"});
    CHECK_FALSE(none.ran);
    CHECK_FALSE(none.complete);
    CHECK(none.outcomes.empty());
    REQUIRE(none.notes.size() == 1);
    CHECK_THAT(none.notes[0], test::contains_text("efa-srd-like has no remote atomics (nic.atomic_cap: none): "));
  }
}

// What a queue pair receives may wait while another one's packets pass, within a node as between nodes: the data of the
// get (x = 1) can still be on its way when the puts to y have been seen, and the put's payload read comes first (w =
// 0).
TEST_CASE("within a node, too, queue pairs do not wait for each other") {
  const auto program = model::litmus::parse_text(R"yaml(
name: loopback
model: rdmawait
locations: {x: {node: 1}, z: {node: 1, init: 1}, y: {node: 1}, w: {node: 1}, l: {node: 1}}
threads:
  - {node: 1, code: "get(x, z) as d; a = y; put(w, x)"}
  - {node: 1, code: "l = 1; put(y, l)"}
  - {node: 1, code: "b = x; put(y, 2)"}
final: [w, x, y]
)yaml",
                                                 "test")
                           .front();
  EngineOptions options;
  options.model = "rdmawait";
  model::litmus::Options all;
  all.outcomes_only = true;
  CHECK(explore::engines().at("explore")(program, options).outcomes == enumerate(program, all).outcomes);
}

// The value that ends a loop may be read in its last turn; a loop may count its turns. Waiting for x = 1 gives a=1.
TEST_CASE("NICs that place packets as they come let a later put overtake, all others do not") {
  constexpr const char* kMessagePassing = R"yaml(
name: message-passing
model: rdmawait
locations: {x: {node: 2}, f: {node: 2}}
threads: [{node: 1, code: "put(x, 1); put(f, 1)"}, {node: 2, code: "a = f; b = x"}]
)yaml";
  const model::litmus::Outcome overtaken = {1, 0};
  for (const char* engine : {"explore", "sample"})
    for (const auto& [hardware, overtakes] :
         {std::pair{"model-weak", false}, {"cx5-roce-25g", false}, {"aries-like", true}, {"efa-srd-like", true}}) {
      INFO(engine << " on " << hardware);
      const auto outcomes = run(engine, kMessagePassing, {.model = {}, .hardware = hardware}).outcomes;
      CHECK((std::ranges::find(outcomes, overtaken) != outcomes.end()) == overtakes);
    }
}

TEST_CASE("assertions are looked at in all runs that come to an end, on hardware too") {
  // Message passing: the flag may be there, and then so is what was put before it (puts to a node keep their order).
  const auto document = [](const std::string& reader) {
    return "name: mp\nmodel: rdmawait\nlocations: {x: {node: 2}, f: {node: 2}, one: {node: 1, init: 1}}\nthreads:\n"
           "  - {node: 1, code: \"put(x, one) as d; put(f, one) as e\"}\n  - {node: 2, code: \"" +
           reader + "\"}\n";
  };
  const std::string may_fail = document("a = f; assert(a == 0)");
  const std::string holds = document("a = f; if (a == 1) { b = x; assert(b == 1) }");
  const std::string never_ends = document("a = f; assert(a == 0); while (a == 1) { a = f }");
  const std::vector<std::string> failure = {"assertion fails: assert(a == 0) (line 6)"};
  for (const char* engine : {"explore", "sample"}) {
    INFO(engine);
    CHECK(run(engine, may_fail.c_str()).unexpected == failure);
    CHECK(run(engine, holds.c_str()).unexpected.empty());
    CHECK(run(engine, never_ends.c_str()).unexpected.empty());
  }
  const auto declarative = [](const std::string& text) {
    return model::litmus::enumerate(model::litmus::parse_text(text, "mp").front()).unexpected;
  };
  CHECK(declarative(may_fail) == failure);
  CHECK(declarative(holds).empty());
  CHECK(declarative(never_ends).empty());
}

TEST_CASE("loops with their condition at the top end") {
  const char* const loops[] = {"a = 0; while (a == 0) { a = x }", "a = 0; while (a == 0) { y = 1; a = x }",
                               "while (x == 0) { y = 1 }; a = x", "n = 0; a = 0; while (n < 3) { n = n + 1; a = 1 }"};
  for (const char* const loop : loops) {
    INFO(loop);
    const std::string document = std::string("name: loop\nmodel: rdmawait\nlocations: {x: {node: 1}, y: {node: 1}}\n") +
                                 "threads: [{node: 1, code: \"" + loop + "\"}, {node: 1, code: \"x = 1\"}]\n";
    for (const char* engine : {"explore", "sample"}) {
      const Result r = run(engine, document.c_str());
      REQUIRE(r.outcomes.size() == 1);
      CHECK(r.outcomes.front().back() == 1);
      CHECK(r.notes.empty());
    }
  }
}

TEST_CASE("a program that never ends: sampling gives its runs up and says so, exploration keeps to its limits") {
  constexpr const char* kCounter = R"yaml(
name: counter
model: rdmawait
locations: {x: {node: 1}}
threads: [{node: 1, code: "n = 0; while (n >= 0) { n = n + 1; a = x }"}]
)yaml";
  EngineOptions options;
  options.runs = 2;
  const Result sampled = run("sample", kCounter, options);
  CHECK(sampled.outcomes.empty());
  REQUIRE(sampled.notes.size() == 1);
  CHECK_THAT(sampled.notes[0], test::contains_text("2 runs ended with a thread that waits for ever"));
  CHECK(sampled.complete);
  options.max_seconds = 0.05;
  const Result explored = run("explore", kCounter, options);
  CHECK_FALSE(explored.complete);
  REQUIRE(explored.notes.size() == 1);
  CHECK_THAT(explored.notes[0], test::contains_text("stopped early by the limit of 0.05 s"));
  options.runs = 1'000'000;  // of milliseconds each: hours
  const Result hurried = run("sample", kCounter, options);
  CHECK_FALSE(hurried.complete);
  CHECK(hurried.executions > 0);
  CHECK(hurried.executions < options.runs);
  REQUIRE(hurried.notes.size() == 2);
  CHECK_THAT(hurried.notes[0], test::contains_text("stopped early by the limit of 0.05 s, after"));
}

// The loop posts a put a turn, four times: two more turns than exploration follows (docs/exploring.md). Sampling runs
// it to its end.
TEST_CASE("where loops were cut, exploration is not complete") {
  constexpr const char* kPosts = R"yaml(
name: posts
model: rdmawait
locations: {x: {node: 2}}
threads: [{node: 1, code: "while (n < 4) { n = n + 1; put(x, n) }"}]
)yaml";
  const Result explored = run("explore", kPosts);
  CHECK_FALSE(explored.complete);
  REQUIRE(explored.notes.size() == 1);
  CHECK_THAT(explored.notes[0], test::contains_text("loops with remote operations were cut after 2 repetitions"));
  CHECK(run("sample", kPosts).outcomes == std::vector<model::litmus::Outcome>{{4}});
  // Nor is it known then what a profile rules out: this one, too, would show n=4 in a further turn.
  CHECK(run("explore", kPosts, {.model = {}, .hardware = "cx5-roce-25g"}).notes == explored.notes);
  const explore::ProgramOn program = [&](const nic::HardwareProfile&) {
    return model::litmus::parse_text(kPosts, "test").front();
  };
  const nic::HardwareProfile weak;
  CHECK_FALSE(explore::ruled_out(program, {}, weak, {}, {.loop_turns = 2}).complete);
  CHECK(explore::ruled_out(program, {{4}}, weak, {}, {.loop_turns = 4}).complete);
}

// Two writers of one tuple: mo makes one of them last. In memory their words may mix; that is named, not counted.
TEST_CASE("the final value of a mixed-size variable is a whole tuple, or its being torn is named") {
  constexpr const char* kWriters = R"yaml(
name: writers
model: loco
locations: {m: {node: 1, init: [0, 0]}}
threads:
  - {node: 1, code: "write(m, [1, 1])"}
  - {node: 1, code: "write(m, [2, 2])"}
final: [m]
)yaml";
  const auto program = model::litmus::parse_text(kWriters, "test").front();
  for (const char* engine : {"explore", "sample"}) {
    const Result r = run(engine, kWriters);
    std::vector<std::string> texts;
    for (const auto& o : r.outcomes) texts.push_back(program.text(o));
    CHECK(texts == std::vector<std::string>{"m=[1, 1]", "m=[2, 2]"});
    REQUIRE(r.notes.size() == 1);
    CHECK_THAT(r.notes[0], test::contains_text("left out 1 outcome in which a final mixed-size value is torn"));
  }
}

TEST_CASE("comparing all engines: what is seen but not allowed fails") {
  const std::string path = "engines_test_comparison.yaml";
  std::ofstream(path) << kTwoThreads;
  model::litmus::CommandOptions options;
  options.files = {path};
  options.engine = "all";
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run_litmus_command(options, explore::engines(), out, err) == 0);
  CHECK_THAT(out.str(), test::contains_text("a=0 b=0: allowed, explored, sampled"));
  CHECK_THAT(out.str(), test::contains_text("Coverage explore: 4 of 4"));

  auto engines = explore::engines();
  engines["sample"] = [](const model::litmus::Program&, const EngineOptions&) {
    Result broken;
    broken.outcomes = {{5, 5}};
    return broken;
  };
  std::ostringstream again;
  CHECK(run_litmus_command(options, engines, again, err) == 1);
  CHECK_THAT(again.str(), test::contains_text("unexpected (sample): a=5 b=5"));
  std::remove(path.c_str());
}

TEST_CASE("a thread that posts more than its queues hold waits for room", "[search]") {
  // Puts to one node write in order (Fig. 10, G7), so the last one's value stays, however many went before.
  std::string puts;
  for (int i = 0; i < 150; ++i) puts += "put(y, x); ";
  const std::string many =
      "name: many\nmodel: rdmawait\nlocations: {x: {node: 1}, y: {node: 2}, z: {node: 1, init: 7}}\n"
      "threads: [{node: 1, code: \"" +
      puts + "put(y, z)\"}]\nfinal: [y]\n";
  const std::string fetches =
      "name: fetches\nmodel: rdmawait\nlocations: {t: {node: 1}, y: {node: 2}}\nthreads:\n"
      "  - {node: 1, code: \"while (a == 0) { get(t, y); a = t }\"}\n  - {node: 2, code: \"y = 7\"}\n";
  for (const std::string& document : {many, fetches}) {
    EngineOptions options;
    options.runs = 200;
    const Result sampled = run("sample", document.c_str(), options);
    REQUIRE(sampled.outcomes.size() == 1);
    CHECK(sampled.outcomes.front().back() == 7);
    CHECK(sampled.notes.empty());
  }
  CHECK(run("explore", many.c_str()).outcomes == run("sample", many.c_str()).outcomes);
}

// A send queue of the machine has 64 places, and a completion that is polled for room is the program's all the same:
// the get is the 100th operation, so it is done when 100 completions have been asked for, and it read behind the puts.
TEST_CASE("more operations than a send queue holds, before the first poll") {
  std::string code;
  for (int i = 1; i < 100; ++i) code += "put(x, " + std::to_string(i) + "); ";
  code += "get(a, x) as d; ";
  const bool polls = GENERATE(true, false);
  for (int i = 0; polls && i < 100; ++i) code += "poll(2); ";
  if (!polls) code += "wait(d); ";
  const std::string model = polls ? "rdmatso" : "rdmawait";
  const std::string document = "name: many\nmodel: " + model +
                               "\nlocations: {x: {node: 2}, a: {node: 1}}\nthreads: [{node: 1, code: \"" + code +
                               "r = a\"}]\n";
  EngineOptions options;
  options.runs = 50;
  const Result r = run("sample", document.c_str(), options);
  REQUIRE(r.outcomes.size() == 1);
  CHECK(r.outcomes[0] == model::litmus::Outcome{99});
}

TEST_CASE("loops whose turns change memory, post or swap go on: no thread of theirs waits for ever") {
  // One thread sees its own stores (rdmawait: rb_i and rf_i are in ib), so x goes 0, 1, 2, 3. A flag that is fetched is
  // fetched again until it is set; and a swap that succeeds is one more reason to look again. So is a turn that has
  // read what the next one compares; and after a loop inside, what was read before it may have changed.
  const std::array<std::pair<const char*, const char*>, 7> loops = {
      {{"locations: {x: {node: 1}}\nthreads: [{node: 1, code: \"while (x < 3) { x = x + 1 }; a = x\"}]\n", "a=3"},
       {"locations: {f: {node: 2}, l: {node: 1}}\nthreads:\n"
        "  - {node: 1, code: \"while (l == 0) { get(l, f) as d; wait(d) }; a = l\"}\n"
        "  - {node: 2, code: \"f = 1\"}\n",
        "a=1"},
       {"locations: {x: {node: 1}}\nthreads: [{node: 1, code: \"b = 0; while (b == 0) { b = cas(x, 0, 1) }; a = "
        "x\"}]\n",
        "a=1"},
       {"locations: {x: {node: 1, init: 1}}\nthreads: [{node: 1, code: \"while (a < x) { a = x }\"}]\n", "a=1"},
       {"locations: {x: {node: 1}, y: {node: 1, init: 1}}\nthreads:\n"
        "  - {node: 1, code: \"while (x == 0) { if (b == 1) { c = cas(x, 0, 1) }; b = y }; a = x\"}\n",
        "a=1"},
       {"locations: {l: {node: 1}, y: {node: 1}}\nthreads:\n"
        "  - {node: 1, code: \"while (a == 0) { a = cas(l, 0, 1); while (y == 0) { } }\"}\n"
        "  - {node: 1, code: \"y = 1\"}\n",
        "a=1"},
       {"locations: {x: {node: 1}, y: {node: 1}}\nthreads:\n"
        "  - {node: 1, code: \"while (x == 0) { while (y == 0) { } }; a = x\"}\n"
        "  - {node: 1, code: \"x = 1; y = 1\"}\n",
        "a=1"}}};
  for (const auto& [code, expected] : loops) {
    const std::string document = "name: loop\nmodel: rdmawait\n" + std::string(code);
    INFO(document);
    const auto program = model::litmus::parse_text(document, "test").front();
    for (const char* engine : {"explore", "sample"}) {
      EngineOptions options;
      options.runs = 200;
      const Result result = run(engine, document.c_str(), options);
      REQUIRE(result.outcomes.size() == 1);
      CHECK_THAT(program.text(result.outcomes.front()), loco::test::contains_text(expected));
      for (const std::string& note : result.notes) CHECK_THAT(note, !loco::test::contains_text("waits for ever"));
    }
  }
}
