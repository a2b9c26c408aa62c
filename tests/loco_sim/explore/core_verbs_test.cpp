// coreRMA over verbs: what the paper's figures show on its networks, that nothing is explored which the rules that a
// NIC keeps forbid, and that the reductions lose nothing where requests overtake each other.
#include "loco_sim/explore/core_verbs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/corerma/document.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;
namespace corerma = model::corerma;

namespace {

using Outcomes = std::vector<Outcome>;

nic::HardwareProfile profile_of(const std::string& name) { return scenario::load_hardware(name).profile; }

explore::Machine on_verbs(const Program& program, const nic::HardwareProfile& profile) {
  return explore::Machine(explore::over_verbs(program, explore::verbs_options(profile)), profile);
}

Outcomes core_explored(const Program& program, const std::string& hardware) {
  const explore::ExploreResult r = explore::explore(on_verbs(program, profile_of(hardware)));
  REQUIRE(r.exhaustive());
  CHECK(r.stuck == 0);
  return r.outcomes;
}

Outcomes core_allowed(const Program& program, const std::string& rules) {
  model::litmus::Options options;
  options.model = rules;
  options.outcomes_only = true;
  return enumerate(program, options).outcomes;
}

Program paper_test(const std::string& name) {
  for (Program& p : model::litmus::test::corpus())
    if (model::litmus::is_corerma(p.model) && p.name.starts_with(name)) return p;
  throw std::logic_error("no test " + name);
}

/// Every `every`-th test of a pivot.
std::vector<Program> generated_tests(const std::string& pivot, int processes, int size, std::uint64_t every) {
  corerma::GenerateOptions options;
  options.pivot = corerma::parse_pivot(pivot);
  options.processes = processes;
  options.size = size;
  options.reads = corerma::Reads::one;
  options.every = every;
  std::vector<Program> programs;
  (void)corerma::Generator(options).run([&](const corerma::Test& test) {
    programs.push_back(corerma::to_litmus(test, options.rules));
    return true;
  });
  return programs;
}

bool covers(const Outcomes& all, const Outcomes& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

constexpr const char* kBasic = "R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS";

}  // namespace

// coreRMA paper, Section 7: on Cray Aries, Fig. 6 was seen to end with (a, b) = (0, 1) and (1, 1), since the get
// overtook the put; the rules expect (0, 0) and (1, 0) only. Verbs and Portals kept the put before the get.
TEST_CASE("Fig. 6: a get overtakes a put on Aries, whatever the routing, and on no other network") {
  const Program program = paper_test("fig6");
  const Outcomes expected = {{0, 0}, {1, 0}};
  CHECK(core_allowed(program, "corerma") == expected);
  const Outcomes all = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  CHECK(core_explored(program, "aries-like") == all);
  CHECK(core_explored(program, "aries-deterministic") == all);
  CHECK(core_explored(program, "verbs-vpi-like") == expected);
  CHECK(core_explored(program, "portals-udp-like") == expected);
}

// Section 7: on Verbs the put of Fig. 8 was allowed to overtake the get, which then reads what the put wrote (c = 0).
TEST_CASE("Fig. 8: a put overtakes a get on Verbs, not on Portals") {
  const Program program = paper_test("fig8");
  const auto overtaken = [](const Outcomes& outcomes) {
    return std::ranges::any_of(outcomes, [](const Outcome& o) { return o[2] == 0; });
  };
  CHECK(overtaken(core_explored(program, "verbs-vpi-like")));
  CHECK(covers(core_allowed(program, "corerma-verbs"), core_explored(program, "verbs-vpi-like")));
  CHECK(core_explored(program, "portals-udp-like") == core_allowed(program, "corerma"));
}

// Section 7: a put on Aries reads its source when it is issued, so Fig. 9 never ends with (2, 2, 2).
TEST_CASE("Fig. 9: puts read their source at once on Aries, late elsewhere") {
  const Program program = paper_test("fig9");
  const Outcome late = {2, 2, 2};
  for (const char* hardware : {"aries-like", "aries-deterministic"})
    CHECK_FALSE(covers(core_explored(program, hardware), {late}));
  for (const char* hardware : {"verbs-vpi-like", "portals-udp-like", "model-weak"})
    CHECK(covers(core_explored(program, hardware), {late}));
}

// Fig. 7. X = 1, Y = 0: comparing Y with X fails, so Y stays 0; b = 1 was seen. X = 0, Y = 1: adding X leaves Y at 1; 2
// was seen.
TEST_CASE("Fig. 7: a stale comparison and a stale addend on Portals") {
  const Program cas = model::litmus::parse_text(R"yaml(
name: fig7-cas
model: corerma
locations: {X: {node: 0, init: 1}, Y: {node: 0}}
threads: [{node: 0, code: "Y = cas(Y, X, Y); b = Y; a = Y"}]
)yaml",
                                                "test")
                          .front();
  const Program rga = model::litmus::parse_text(R"yaml(
name: fig7-rga
model: corerma
locations: {X: {node: 0}, Y: {node: 0, init: 1}}
threads: [{node: 0, code: "Y = get(Y); b = Y; Y = rga(Y, X); c = Y; a = Y"}]
)yaml",
                                                "test")
                          .front();
  const auto any = [](const Outcomes& outcomes, int value) {
    return std::ranges::any_of(outcomes, [&](const Outcome& o) { return std::ranges::count(o, value) != 0; });
  };
  CHECK(any(core_explored(cas, "portals-udp-like"), 1));
  CHECK(any(core_explored(rga, "portals-udp-like"), 2));
  for (const char* hardware : {"aries-like", "verbs-vpi-like", "model-weak"}) {
    CHECK(core_explored(cas, hardware) == Outcomes{{0, 0}});
    CHECK(core_explored(rga, hardware) == Outcomes{{1, 1, 1}});
  }
}

// model-weak is a reliable connection whose READs may pass each other and whose WRITEs may pass READs
// (docs/machine.md): of IR it keeps put-put, put-get and what is about atomics but for a get before them.
TEST_CASE("on model-weak nothing is explored that the rules which it keeps forbid") {
  for (const Program& p : model::litmus::test::corpus()) {
    if (!model::litmus::is_corerma(p.model)) continue;
    INFO(p.name);
    const Outcomes expected = core_allowed(p, "corerma-unordered");
    for (const Outcome& o : core_explored(p, "model-weak"))
      CHECK(std::ranges::any_of(expected, [&](const Outcome& a) { return model::litmus::agrees(a, o); }));
  }
  for (const char* pivot : {"R1", "F2", "PG", "GA", "CAS"})
    for (const Program& p : generated_tests(pivot, 2, pivot[0] == 'C' ? 11 : 9, 40)) {
      INFO(p.name);
      CHECK(
          covers(core_allowed(p, fmt::format("{},PP,PTG,PTA,AO,SO,SF,RL,FA", kBasic)), core_explored(p, "model-weak")));
    }
}

TEST_CASE("reduction loses no outcome where requests overtake each other, are serial, or carry stale operands") {
  for (const char* hardware : {"aries-like", "aries-deterministic", "verbs-vpi-like", "portals-udp-like"}) {
    nic::HardwareProfile profile = profile_of(hardware);
    profile.link_ideal = true;  // as explored
    std::vector<Program> programs = {paper_test("fig6"), paper_test("fig8"), paper_test("fig9")};
    for (const auto& [pivot, size] : {std::pair{"PG", 8}, {"GA", 9}, {"CAS", 9}})
      for (Program& p : generated_tests(pivot, pivot[0] == 'P' ? 2 : 1, size, 60)) programs.push_back(std::move(p));
    for (const Program& p : programs) {
      INFO(hardware << " " << p.name);
      const explore::Machine m = on_verbs(p, profile);
      const explore::ExploreResult full = explore::explore(m, {.max_states = 40'000, .reduce = false});
      const explore::ExploreResult reduced = explore::explore(m);
      REQUIRE(reduced.exhaustive());
      if (full.complete) CHECK(full.outcomes == reduced.outcomes);
      if (!full.complete) CHECK(covers(reduced.outcomes, full.outcomes));
    }
  }
}

TEST_CASE("a flush waits, and pushes what completes before memory has it") {
  const auto code = [](const char* text) {
    const Program p = model::litmus::parse_text(fmt::format("name: t\nmodel: corerma\nlocations: {{X: {{node: 1}}, Y: "
                                                            "{{node: 2}}}}\nthreads: [{{node: 1, code: \"{}\"}}]\n",
                                                            text),
                                                "test")
                          .front();
    std::string ops;
    const Program verbs = explore::over_verbs(p, {});
    for (const auto& i : verbs.threads.front().code) {
      using model::litmus::Op;
      ops += i.op == Op::put      ? "put "
             : i.op == Op::get    ? "get "
             : i.op == Op::wait   ? "wait "
             : i.op == Op::mfence ? "fence "
             : i.op == Op::read   ? "read "
             : i.op == Op::write  ? "write "
                                  : "? ";
    }
    return ops;
  };
  CHECK(code("put(Y, X); flush(2)") == "put wait get wait ");
  CHECK(code("put(Y, X); flush(2); flush(2)") == "put wait get wait wait ");  // nothing left to push
  CHECK(code("X = get(Y); flush(2)") == "get wait ");
  CHECK(code("flush(2); a = X") == "read ");
  CHECK(code("put(Y, X); flush(1)") == "put ");
  CHECK(code("X = 1; X = 2; a = X; b = X") == "write write fence read read ");
}
