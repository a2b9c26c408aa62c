// Exploration against the declarative models, and against itself without reduction, on random programs.
//
// To replay a failure: the seed is printed; random_document(seed, shape) is the document.
#include <algorithm>
#include <cstdlib>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/in_order.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/random_program.hpp"
#include "tests/model/litmus/reference.hpp"

using namespace loco;
using model::litmus::Outcome;
using model::litmus::Program;

namespace {

using Shape = model::litmus::test::RandomShape;

struct Random {
  std::string document;
  Program program;
};

Random random_program(std::uint64_t seed, const Shape& shape) {
  Random r{model::litmus::test::random_document(seed, shape), {}};
  r.program = model::litmus::parse_text(r.document, "random").front();
  return r;
}

std::vector<Outcome> declarative(const Program& program, const std::string& model) {
  model::litmus::SearchOptions options;
  options.outcomes_only = true;
  return search(program, *model::litmus::find_model(model), options).outcomes;
}

std::vector<Outcome> in_order(const Program& program) {
  model::litmus::SearchOptions options;
  options.outcomes_only = true;
  return explore::search_in_order(program, options).outcomes;
}

bool includes(const std::vector<Outcome>& all, const std::vector<Outcome>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// Explored = allowed, but for what in-order completion excludes; sampled within. Adds to the counts.
struct Totals {
  std::size_t possible = 0;
  std::size_t sampled = 0;
};
void check_exact(std::uint64_t seed, const Shape& shape, std::uint64_t runs, Totals& totals) {
  const Random r = random_program(seed, shape);
  INFO("seed " << seed << "\n" << r.document);
  const explore::Machine machine(r.program, nic::HardwareProfile{});
  const explore::ExploreResult explored = explore::explore(machine);
  REQUIRE(explored.complete);
  const std::vector<Outcome> allowed = declarative(r.program, shape.model);
  CHECK(includes(allowed, explored.outcomes));
  CHECK(explored.outcomes == in_order(r.program));
  // The excluded outcomes are those that are named, no more.
  std::vector<Outcome> accounted = explore::excluded_by_in_order(r.program, shape.model);
  accounted.insert(accounted.end(), explored.outcomes.begin(), explored.outcomes.end());
  std::sort(accounted.begin(), accounted.end());
  CHECK(accounted == allowed);

  const explore::SampleResult seen = explore::sample(machine, runs, seed);
  CHECK(seen.outcomes.size() * 100 >= explored.outcomes.size() * 95);  // of each test
  totals.possible += explored.outcomes.size();
  totals.sampled += seen.outcomes.size();
  for (const auto& s : seen.outcomes) {
    INFO(r.program.text(s.outcome));
    CHECK(std::binary_search(explored.outcomes.begin(), explored.outcomes.end(), s.outcome));
  }
}

void check_reduction(std::uint64_t seed, const Shape& shape, const nic::HardwareProfile& profile = {}) {
  const Random r = random_program(seed, shape);
  INFO("seed " << seed << "\n" << r.document);
  const explore::Machine machine(model::litmus::implement(r.program), profile);
  const explore::Machine plain(model::litmus::implement(r.program), profile, explore::Network::of_profile);
  const explore::ExploreResult full = explore::explore(plain, {.reduce = false});
  const explore::ExploreResult reduced = explore::explore(machine);
  CHECK(full.outcomes == reduced.outcomes);
  CHECK(full.states >= reduced.states);
  CHECK((full.stuck != 0) == (reduced.stuck != 0));
}

}  // namespace

TEST_CASE("explored is exactly what the model allows with completions in order; sampling covers it") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    Totals totals;
    for (std::uint64_t seed = 1; seed <= loco::test::some(200) / loco::test::kShare; ++seed)
      check_exact(seed, {.model = model}, 2000, totals);
    INFO(model << ": " << totals.sampled << " of " << totals.possible << " outcomes sampled");
    CHECK(totals.sampled * 100 >= totals.possible * 95);
  }
}

TEST_CASE("remote atomics: explored is exactly what the model allows with completions in order") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    Totals totals;
    for (std::uint64_t seed = 1; seed <= 40 / loco::test::kShare; ++seed)
      check_exact(seed, {.model = model, .total_max = 6, .atomics = true}, 2000, totals);
    INFO(model << ": " << totals.sampled << " of " << totals.possible << " outcomes sampled");
    CHECK(totals.sampled * 100 >= totals.possible * 95);
  }
}

TEST_CASE("sampling covers programs of hundreds of outcomes, each") {
  // Three threads race for a word or two; these have 377, 211 and 230 outcomes, most of them rare under random delays.
  for (const auto& [model, seed] : {std::pair{"rdmatso", 2541}, {"rdmatso", 2480}, {"rdmawait", 1461}}) {
    Totals totals;
    check_exact(static_cast<std::uint64_t>(seed), {.model = model}, 2000, totals);
    INFO(model << " " << seed << ": " << totals.sampled << " of " << totals.possible << " outcomes sampled");
    CHECK(totals.possible > 200);
    CHECK(totals.sampled * 100 >= totals.possible * 95);
  }
}

TEST_CASE("explored is exact, and sampling covers it, on many more random programs", "[.long]") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    Totals totals;
    for (std::uint64_t seed = 1000; seed < 3000; ++seed) check_exact(seed, {.model = model}, 2000, totals);
    INFO(model << ": " << totals.sampled << " of " << totals.possible << " outcomes sampled");
    CHECK(totals.sampled * 100 >= totals.possible * 95);
  }
}

TEST_CASE("remote atomics: explored is exact on many more random programs", "[.long]") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    Totals totals;
    for (std::uint64_t seed = 1000; seed < 2000; ++seed)
      check_exact(seed, {.model = model, .total_max = 7, .atomics = true}, 2000, totals);
    INFO(model << ": " << totals.sampled << " of " << totals.possible << " outcomes sampled");
    CHECK(totals.sampled * 100 >= totals.possible * 95);
  }
}

namespace {

/// Which part of a long test to run: LITMUS_SEED=FIRST-LAST.
std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t first, std::uint64_t last) {
  const char* const chosen = std::getenv("LITMUS_SEED");
  if (chosen == nullptr) return {first, last};
  char* end = nullptr;
  const std::uint64_t from = std::strtoull(chosen, &end, 10);
  return {from, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : from};
}

struct Agreement {
  int programs = 0;
  int machine = 0;      ///< of them: small enough for the operational machine
  int definitions = 0;  ///< and for the definitions written out
};

/// The engine, the definitions, the operational machine, and what is explored on the simulated NIC.
void check_engines(std::uint64_t seed, const std::string& model, Agreement& counts) {
  namespace test = model::litmus::test;
  const Random r = random_program(seed, {.model = model, .total_max = 6, .atomics = true});
  INFO(model << ", seed " << seed << "\n" << r.document);
  const std::vector<Outcome> allowed = declarative(r.program, model);
  ++counts.programs;
  if (const test::ReferenceResult found = test::reference(r.program, model, 20'000); !found.gave_up) {
    ++counts.definitions;
    CHECK(found.outcomes == allowed);
  }
  if (model == "loco") {  // made of shared variables and barriers, which show less than they may
    const explore::Machine machine(model::litmus::implement(r.program), nic::HardwareProfile{});
    CHECK(includes(allowed, explore::explore(machine, {.max_executions = 2000}).outcomes));
    return;
  }
  if (const test::ReferenceResult found = test::machine(r.program, 40'000); !found.gave_up) {
    ++counts.machine;
    CHECK(found.outcomes == allowed);
  }
  const explore::ExploreResult explored = explore::explore(explore::Machine(r.program, nic::HardwareProfile{}));
  REQUIRE(explored.complete);
  CHECK(explored.outcomes == (model == "rdmatso" ? allowed : in_order(r.program)));
}

}  // namespace

TEST_CASE("remote atomics: four engines agree on 10,000 random programs", "[.long]") {
  Agreement counts;
  const auto [first, last] = part_of(1, 3400);
  for (std::uint64_t seed = first; seed <= last; ++seed)
    for (const char* model : {"rdmatso", "rdmawait", "loco"}) check_engines(seed, model, counts);
  WARN(counts.programs << " programs, " << counts.machine << " by the machine, " << counts.definitions
                       << " by the definitions");
  CHECK(counts.machine > counts.programs / 3);
  CHECK(counts.definitions > counts.programs / 3);
}

TEST_CASE("words in relaxed and device regions: explored is within the model, and exact on most programs") {
  std::size_t exact = 0, programs = 0;
  for (std::uint64_t seed = 1; seed <= loco::test::some(120) / loco::test::kShare; ++seed) {
    std::string document = model::litmus::test::random_document(seed, {.model = "rdmatso", .total_max = 6});
    std::uint64_t bits = seed * 0x9E3779B97F4A7C15ULL >> 32U;
    for (std::size_t at = document.find("{node: "); at < document.find("threads:");
         at = document.find("{node: ", at + 1)) {
      if ((bits & 1U) != 0) document.insert(at + 1, "relaxed: true, ");
      if ((bits & 6U) == 6U) document.insert(at + 1, "memory: device, ");
      bits >>= 3U;
    }
    INFO("seed " << seed << "\n" << document);
    const Program program = model::litmus::parse_text(document, "random").front();
    const explore::ExploreResult explored = explore::explore(explore::Machine(program, nic::HardwareProfile{}));
    REQUIRE(explored.complete);
    const std::vector<Outcome> allowed = declarative(program, "rdmatso");
    CHECK(includes(allowed, explored.outcomes));
    ++programs;
    exact += explored.outcomes == allowed ? 1U : 0U;
  }
  INFO(exact << " of " << programs);
  CHECK(exact * 100 >= programs * 90);
}

TEST_CASE("reduction loses no outcome") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    for (std::uint64_t seed = 1; seed <= loco::test::some(100) / loco::test::kShare; ++seed) {
      check_reduction(seed, {.model = model, .nodes_max = 2, .threads_max = 2, .operations_max = 3, .total_max = 5});
      if (seed % 4 != 0) continue;
      check_reduction(
          seed,
          {.model = model, .nodes_max = 2, .threads_max = 2, .operations_max = 3, .total_max = 4, .atomics = true});
    }
  }
}

TEST_CASE("reduction loses no outcome where queue pairs share queues") {
  nic::HardwareProfile shared;
  shared.pcie_ordering_domain = nic::OrderingDomain::nic;
  nic::HardwareProfile network = shared;
  network.link_ideal = false;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Shape shape{.nodes_max = 2, .threads_max = 2, .operations_max = 3, .total_max = 4};
    check_reduction(seed, shape, shared);
    check_reduction(seed, shape, network);
  }
}

TEST_CASE("reduction loses no outcome of larger programs", "[.long]") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    for (std::uint64_t seed = 1000; seed < 1500; ++seed) {
      check_reduction(seed, {.model = model, .nodes_max = 2, .threads_max = 3, .operations_max = 3, .total_max = 6});
    }
  }
}

TEST_CASE("libraries: nothing that their specification forbids is explored or sampled") {
  const Shape shape{.model = "loco", .nodes_max = 2, .threads_max = 2, .operations_max = 3, .total_max = 6};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Random r = random_program(seed, shape);
    INFO("seed " << seed << "\n" << r.document);
    const std::vector<Outcome> allowed = declarative(r.program, "loco");
    const explore::Machine machine(model::litmus::implement(r.program), nic::HardwareProfile{});
    CHECK(includes(allowed, explore::explore(machine, {.max_executions = 2000}).outcomes));
    for (const auto& s : explore::sample(machine, 200, seed).outcomes) {
      CHECK(std::binary_search(allowed.begin(), allowed.end(), s.outcome));
    }
  }
}
