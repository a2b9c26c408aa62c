// The corpus in tests/litmus: every expectation holds, for the engine and for the naive oracles.
#include "tests/model/litmus/corpus.hpp"

#include <algorithm>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/reference.hpp"

using namespace loco::model::litmus;

namespace {

bool straight_line(const Program& p) {
  for (const Thread& t : p.threads)
    for (const Instruction& i : t.code)
      if (i.op == Op::jump || i.op == Op::branch_zero || i.library == loco::trace::Library::msw || !i.atomic)
        return false;
  return true;
}

/// The document's own model, and those of outcomes_by_model.
std::vector<std::string> models(const Program& p) {
  std::vector<std::string> names = {p.model};
  for (const auto& [m, outcomes] : p.outcomes_by_model)
    if (m != p.model) names.push_back(m);
  return names;
}

}  // namespace

TEST_CASE("every litmus document of the corpus has the outcomes it expects", "[litmus]") {
  for (const Program& p : test::corpus())
    for (const std::string& m : models(p)) {
      Options options;
      options.model = m;
      const Result r = enumerate(p, options);
      INFO(p.file << ": " << p.name << " under " << m << "\n" << to_herd_text(p, r));
      CHECK(r.ok);
    }
}

TEST_CASE("the corpus has the papers' figures and more than 150 tests of its own", "[litmus]") {
  std::size_t paper = 0, own = 0;
  std::vector<std::string> names;
  for (const Program& p : test::corpus()) {
    ++(p.file.find("-paper.yaml") != std::string::npos ? paper : own);
    names.push_back(p.name);
    INFO(p.name);
    CHECK_FALSE(p.source.empty());
    CHECK_FALSE((p.allowed.empty() && p.forbidden.empty() && p.outcomes_by_model.empty()));
  }
  CHECK(paper == 29);  // 20 of the LOCO paper, 9 of the coreRMA papers
  CHECK(own >= 150);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("the corpus has the same outcomes by the definitions written out naively", "[litmus]") {
  int compared = 0;
  for (const Program& p : test::corpus()) {
    if (!straight_line(p)) continue;
    const test::ReferenceResult expected = test::reference(p, p.model, 20'000);
    if (expected.gave_up) continue;
    ++compared;
    const Result r = enumerate(p);
    INFO(p.file << ": " << p.name);
    CHECK(r.outcomes == expected.outcomes);
    Options every;
    every.every_witness = true;
    CHECK(enumerate(p, every).executions == expected.witnesses);
  }
  CHECK(compared >= 150);
}

TEST_CASE("rdmatso documents have the same outcomes on the operational machine", "[litmus]") {
  int compared = 0;
  for (const Program& p : test::corpus()) {
    if (p.model != "rdmatso") continue;
    const test::ReferenceResult expected = test::machine(p, 200'000);
    REQUIRE_FALSE(expected.gave_up);
    INFO(p.file << ": " << p.name);
    CHECK(enumerate(p).outcomes == expected.outcomes);
    ++compared;
  }
  CHECK(compared >= 25);
}

TEST_CASE("every execution found satisfies the definition evaluated in relation algebra", "[litmus]") {
  for (const Program& p : test::corpus()) {
    if (p.name == "core-C-race" || p.name == "core-no-C") continue;  // conflicts are not part of Axioms
    std::uint64_t seen = 0, bad = 0;
    (void)search(p, *find_model(p.model), {}, {}, [&](const FoundExecution& f) {
      ++seen;
      if (!consistent(*f.skeleton, *f.axioms, f.witness)) ++bad;
      return seen < 200;
    });
    INFO(p.file << ": " << p.name << ", of " << seen);
    CHECK(bad == 0);
  }
}

TEST_CASE("variants of the models: transitive barriers and the weaker ring buffer", "[litmus]") {
  for (const Program& p : test::corpus()) {
    Options options;
    if (p.name == "fig12-weak-barrier") {
      // Section 4.3: synchronising across all nodes forbids a = 0.
      options.model_options.transitive_barriers = true;
      const Result r = enumerate(p, options);
      REQUIRE(r.outcomes.size() == 1);
      CHECK(p.text(r.outcomes[0]) == "a=1");
    }
    if (p.name == "fig13-ring-buffer-global-fence") {
      // Section 5.1: with so = rf and hb^-1 & fb empty, both receives may fail.
      options.model_options.ring_rule = RingRule::weak;
      const Outcome both_fail = {kTrue, kEmpty, kTrue, kEmpty};  // a c b d
      const Result weak = enumerate(p, options);
      CHECK(std::binary_search(weak.outcomes.begin(), weak.outcomes.end(), both_fail));
      const Result strong = enumerate(p);
      CHECK_FALSE(std::binary_search(strong.outcomes.begin(), strong.outcomes.end(), both_fail));
    }
    if (p.name == "fig23-ring-buffer-and-barrier") {
      // The barrier makes the submit happen before the receive: the weak rule forbids missing it, too.
      options.model_options.ring_rule = RingRule::weak;
      CHECK(enumerate(p, options).ok);
    }
  }
}

TEST_CASE("variants of the models: several atomic units, and atomics of the whole system", "[litmus]") {
  const auto possible = [](const Program& p, const Options& options) {
    const std::vector<PartialOutcome>& asked = p.allowed.empty() ? p.forbidden : p.allowed;
    const Result r = enumerate(p, options);
    return std::any_of(r.outcomes.begin(), r.outcomes.end(),
                       [&](const Outcome& o) { return matches(asked.front(), o); });
  };
  Options banked, global;
  banked.model_options.banked_atomics = true;
  global.model_options.global_atomics = true;
  // Allowed because a CPU, a put or a get comes between the read of an atomic and its write, which is one point here.
  const std::vector<std::string> split = {"rule-home-uses-cas",
                                          "rule-cpu-store-lost",
                                          "rule-put-lost",
                                          "rule-get-not-excluded",
                                          "rule-wait-is-not-visibility",
                                          "rule-earlier-get-splits-an-atomic",
                                          "museum-smart2-a-write-into-an-atomic-s-word",
                                          "museum-ompi14407-cpu-and-network-both-win",
                                          "lock-home-takes-by-cas",
                                          "lock-release-by-put-into-a-counter",
                                          "lock-release-by-put-lost",
                                          "museum-libfabric4500-atomic-complete-not-visible"};
  for (const Program& p : test::corpus()) {
    if (p.file.find("/atomics.yaml") == std::string::npos || p.name.rfind("cell-", 0) == 0) continue;
    INFO(p.name);
    const bool hca = !p.allowed.empty();
    CHECK(possible(p, banked) == (hca || p.name == "rule-other-words-are-excluded-per-node"));
    const bool only_split = std::find(split.begin(), split.end(), p.name) != split.end();
    CHECK(possible(p, global) == (hca && !only_split));
  }
}
