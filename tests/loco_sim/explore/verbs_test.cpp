// Programs of model verbs on the NIC model: nothing that the model forbids is explored or sampled, and nearly all that
// it allows is.
#include <algorithm>

#include "loco_sim/explore/explore.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/verbs/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/random_program.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

std::vector<Program> verbs_corpus() {
  std::vector<Program> all;
  for (const char* file : {"/verbs/verbs.yaml", "/verbs/unreliable.yaml"})
    for (Program& p : model::litmus::parse_file(model::litmus::test::corpus_folder() + file))
      all.push_back(std::move(p));
  return all;
}

/// model-weak as litmus tests of the LOCO paper's models take it.
nic::HardwareProfile hca_weak() {
  nic::HardwareProfile profile;
  profile.nic_atomic_cap = nic::AtomicCap::hca;
  return profile;
}

std::vector<Outcome> verbs_allows(const Program& program) {
  model::litmus::Options options;
  options.outcomes_only = true;
  return enumerate(program, options).outcomes;
}

std::vector<Outcome> verbs_explored(const std::string& document, const nic::HardwareProfile& profile) {
  const Program p = model::litmus::parse_text(document, "test").front();
  return explore::explore(explore::Machine(p, profile)).outcomes;
}

struct VerbsTotals {
  std::size_t tests = 0, allowed = 0, explored = 0, incomplete = 0, traces = 0;
};

/// Runs that show each outcome: made again they show it again, and their traces are what the model allows.
void judge_ways(const Program& program, const explore::Ways& ways, VerbsTotals& totals) {
  const explore::Machine machine(program, hca_weak(), explore::Network::simplest, true);
  for (const auto& [outcome, way] : ways) {
    explore::Configuration c = machine.initial();
    for (const explore::Choice choice : way)
      choice == explore::Trails::kSettle ? machine.settle(c) : machine.step(c, choice);
    INFO(program.text(outcome));
    CHECK(machine.finished(c));
    CHECK(machine.outcome(c) == outcome);
    const model::verbs::Verdict verdict = model::verbs::check(machine.record(way));
    INFO(verdict.to_text());
    CHECK(verdict.consistent());
    ++totals.traces;
  }
}

void compare_verbs(const Program& program, VerbsTotals& totals) {
  INFO(program.name);
  if (!explore::refusal(program).empty()) return;
  const std::vector<Outcome> allowed = verbs_allows(program);
  const explore::Machine machine(program, hca_weak());
  const auto found = explore::explore(machine, {.max_states = 30'000, .ways = true});
  CHECK(found.ways.size() == found.outcomes.size());
  judge_ways(program, found.ways, totals);
  for (const Outcome& o : found.outcomes) {
    INFO(program.text(o));
    CHECK(std::binary_search(allowed.begin(), allowed.end(), o));
  }
  const auto seen = explore::sample(machine, 20, 1, {.ways = true});
  for (const auto& s : seen.outcomes) {
    INFO(program.text(s.outcome));
    CHECK(std::binary_search(allowed.begin(), allowed.end(), s.outcome));
  }
  judge_ways(program, seen.ways, totals);
  ++totals.tests;
  totals.allowed += allowed.size();
  totals.explored += found.outcomes.size();
  totals.incomplete += found.complete ? 0U : 1U;
}

const std::string kTwoWords =
    "model: verbs\n"
    "locations: {x: {node: 2}, f: {node: 2}, u: {node: 1, init: 1}, v: {node: 1, init: 1}}\n"
    "qps: {q: {node: 1, peer: p}, p: {node: 2, peer: q}}\n"
    "threads:\n"
    "- {node: 1, code: 'put([x, f], [u, v]) on q'}\n";

}  // namespace

TEST_CASE("verbs: the corpus is explored and sampled within the model") {
  VerbsTotals totals;
  std::size_t n = 0;
  for (const Program& program : verbs_corpus())
    if (++n % 4 == 0) compare_verbs(program, totals);
  INFO(totals.explored << " of " << totals.allowed << " in " << totals.tests << ", " << totals.incomplete << " cut");
  CHECK(totals.tests >= 25);
  CHECK(totals.explored * 100 >= totals.allowed * 90);
}

TEST_CASE("verbs: the whole corpus is explored and sampled within the model", "[.long]") {
  VerbsTotals totals;
  for (const Program& program : verbs_corpus()) compare_verbs(program, totals);
  INFO(totals.explored << " of " << totals.allowed << " in " << totals.tests << ", " << totals.incomplete << " cut, "
                       << totals.traces << " traces");
  CHECK(totals.tests == verbs_corpus().size());
  CHECK(totals.explored * 100 >= totals.allowed * 90);
}

TEST_CASE("verbs: reduction loses no outcome") {
  std::size_t n = 0, compared = 0;
  for (const Program& program : verbs_corpus()) {
    if (++n % 3 != 0 || !explore::refusal(program).empty()) continue;
    const explore::Machine machine(program, hca_weak());
    const auto full = explore::explore(machine, {.max_states = 20'000, .reduce = false});
    if (!full.complete) continue;
    INFO(program.name);
    CHECK(explore::explore(machine).outcomes == full.outcomes);
    ++compared;
  }
  CHECK(compared >= 15);
}

TEST_CASE("verbs: random programs are explored and sampled within the model, and their runs are consistent") {
  VerbsTotals totals;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const model::litmus::test::RandomVerbs shape{.operations_max = 3, .total_max = 5, .unreliable = seed % 2 == 0};
    const std::string document = model::litmus::test::random_verbs_document(seed + 70'000, shape);
    INFO(document);
    compare_verbs(model::litmus::parse_text(document, "random").front(), totals);
  }
  INFO(totals.explored << " of " << totals.allowed << " in " << totals.tests << ", " << totals.incomplete << " cut, "
                       << totals.traces << " traces");
  CHECK(totals.explored * 100 >= totals.allowed * 80);
  CHECK(totals.traces > 100);
}

TEST_CASE("verbs: receives that two threads post are used as they become known") {
  // r may become known behind s, although it was posted first: thread 0 sees s posted when it has posted its own.
  const std::string document =
      "model: verbs\nlocations: {y: {node: 2}, z: {node: 2}, f: {node: 2}}\n"
      "qps: {q: {node: 1, peer: p}, p: {node: 2, peer: q}}\n"
      "threads:\n- {node: 2, code: 'recv(p, y) as r; a = f'}\n- {node: 2, code: 'recv(p, z) as s; f = 1; b = "
      "poll(p)'}\n"
      "- {node: 1, code: 'send(q, 5)'}\n";
  const Program p = model::litmus::parse_text(document, "test").front();
  const auto shown = explore::explore(explore::Machine(p, hca_weak())).outcomes;
  CHECK(shown == verbs_allows(p));
  CHECK(shown.size() == 4);  // a is 0 or 1, b is r or s
}

TEST_CASE("verbs: words of one message come in any order, or ascending") {
  const std::string forward = kTwoWords + "- {node: 2, code: 'a = f; b = x'}\n";  // f is behind x
  const std::string backward = kTwoWords + "- {node: 2, code: 'a = x; b = f'}\n";
  const Outcome second_only = {1, 0};
  const auto shows = [&](const std::string& document, const nic::HardwareProfile& profile) {
    const auto outcomes = verbs_explored(document, profile);
    return std::find(outcomes.begin(), outcomes.end(), second_only) != outcomes.end();
  };
  CHECK(shows(forward, hca_weak()));
  CHECK(shows(backward, hca_weak()));
  nic::HardwareProfile ascending = hca_weak();
  ascending.nic_word_order = nic::WordOrder::ascending;
  CHECK_FALSE(shows(forward, ascending));
  CHECK(shows(backward, ascending));
}

TEST_CASE("verbs: a message that finds no receive has no outcome, one that finds it later has") {
  const std::string document =
      "model: verbs\nlocations: {y: {node: 2}}\nqps: {q: {node: 1, peer: p}, p: {node: 2, peer: q}}\n"
      "threads:\n- {node: 1, code: 'send(q, 5)'}\n- {node: 2, code: ";
  const Program never = model::litmus::parse_text(document + "'a = y'}\n", "test").front();
  const auto stuck = explore::explore(explore::Machine(never, hca_weak()));
  CHECK(stuck.complete);
  CHECK(stuck.outcomes.empty());
  CHECK(stuck.stuck > 0);
  CHECK(verbs_explored(document + "'recv(p, y); poll(p); a = y'}\n", hca_weak()) == std::vector<Outcome>{{5}});
}

TEST_CASE("a store between the read and the write of an atomic is lost, which few runs find") {
  // docs/atomics.md: rao orders atomics only. x = 5 falls between the two halves: z = 0, x = 1.
  for (const char* post : {"model: rdmatso\nthreads:\n- {node: 1, code: 'rfaa(z, x, 1); poll(2)'}\n",
                           "model: verbs\nqps: {q: {node: 1, peer: p}, p: {node: 2, peer: q}}\n"
                           "threads:\n- {node: 1, code: 'rfaa(z, x, 1) on q; poll(q)'}\n"}) {
    const std::string document =
        std::string("locations: {x: {node: 2}, z: {node: 1}}\nfinal: [z, x]\n") + post + "- {node: 2, code: 'x = 5'}\n";
    INFO(document);
    const Program p = model::litmus::parse_text(document, "test").front();
    const explore::Machine machine(p, hca_weak());
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      constexpr std::uint64_t kRuns = 16;
      const auto seen = explore::sample(machine, kRuns, seed).outcomes;
      CHECK(std::ranges::any_of(seen, [](const auto& s) { return s.outcome == Outcome{0, 1}; }));
    }
  }
}

TEST_CASE("verbs: messages whose words cannot lie side by side are refused") {
  const std::string text =
      "model: verbs\nlocations: {x: {node: 2}, y: {node: 2}, z: {node: 2}, u: {node: 1}, v: {node: 1}}\n"
      "qps: {q: {node: 1, peer: p}, p: {node: 2, peer: q}}\n"
      "threads:\n- {node: 1, code: 'put([x, y], [u, v]) on q; put([y, z], [u, v]) on q; put([x, z], [u, v]) on q'}\n- "
      "{node: 2, code: 'a = x'}\n";
  const Program p = model::litmus::parse_text(text, "test").front();
  CHECK_FALSE(explore::side_by_side(p).refused.empty());
  CHECK_THROWS_AS(explore::Machine(p, hca_weak()), std::invalid_argument);
}
