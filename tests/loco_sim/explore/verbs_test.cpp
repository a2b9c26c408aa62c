// Programs of model verbs on the NIC model: nothing that the model forbids is explored or sampled, and nearly all that
// it allows is.
#include <algorithm>

#include "loco_sim/explore/explore.hpp"
#include "model/litmus/litmus.hpp"
#include "model/litmus/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

std::vector<Program> verbs_corpus() {
  return model::litmus::parse_file(model::litmus::test::corpus_folder() + "/verbs/verbs.yaml");
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
  std::size_t tests = 0, allowed = 0, explored = 0, incomplete = 0;
};
void compare_verbs(const Program& program, VerbsTotals& totals) {
  INFO(program.name);
  if (!explore::refusal(program).empty()) return;
  const std::vector<Outcome> allowed = verbs_allows(program);
  const explore::Machine machine(program, hca_weak());
  const auto found = explore::explore(machine, {.max_states = 30'000});
  for (const Outcome& o : found.outcomes) {
    INFO(program.text(o));
    CHECK(std::binary_search(allowed.begin(), allowed.end(), o));
  }
  for (const auto& s : explore::sample(machine, 20, 1).outcomes) {
    INFO(program.text(s.outcome));
    CHECK(std::binary_search(allowed.begin(), allowed.end(), s.outcome));
  }
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
  INFO(totals.explored << " of " << totals.allowed << " in " << totals.tests << ", " << totals.incomplete << " cut");
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
