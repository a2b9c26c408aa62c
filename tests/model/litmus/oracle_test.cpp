// Random programs against two independent oracles. LITMUS_SEED=s runs seed s alone, and prints its program; s-t runs
// those from s to t.
#include <cstdlib>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/models/variants.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/random_program.hpp"
#include "tests/model/litmus/reference.hpp"

using namespace loco::model::litmus;
using loco::test::some;

namespace {

std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t count) {
  const char* chosen = std::getenv("LITMUS_SEED");
  if (chosen == nullptr) return {1, count / loco::test::kShare + 1};
  char* end = nullptr;
  const std::uint64_t s = std::strtoull(chosen, &end, 10);
  return {s, (*end == '-' ? std::strtoull(end + 1, nullptr, 10) : s) + 1};
}

/// Compares the exact outcome sets, and the number of complete witnesses (rf, mo, nfo).
int compare_with_definitions(const std::string& model, int operations, std::uint64_t count, std::uint64_t limit,
                             bool atomics = false) {
  test::RandomShape shape;
  shape.model = model;
  shape.total_max = operations;
  shape.atomics = atomics;
  int compared = 0;
  const auto [first, last] = seeds(count);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_document(seed, shape);
    const Program p = parse_text(document, "random").front();
    const test::ReferenceResult expected = test::reference(p, model, limit);
    if (expected.gave_up) continue;
    ++compared;
    const Result found = enumerate(p);
    Options every;
    every.every_witness = true;
    INFO("replay: LITMUS_SEED=" << seed << " test_litmus\n" << document);
    REQUIRE(found.outcomes == expected.outcomes);
    REQUIRE(enumerate(p, every).executions == expected.witnesses);
  }
  return compared;
}

}  // namespace

TEST_CASE("rdmawait: the engine agrees with the definitions on random programs", "[oracle]") {
  CHECK(compare_with_definitions("rdmawait", 5, some(1000), 100'000) +
            compare_with_definitions("rdmawait", 7, some(300), 100'000) >
        0);
}

TEST_CASE("rdmatso: the engine agrees with the definitions on random programs", "[oracle]") {
  CHECK(compare_with_definitions("rdmatso", 5, some(1000), 100'000) > 0);
}

TEST_CASE("loco: the engine agrees with the definitions on random programs", "[oracle]") {
  CHECK(compare_with_definitions("loco", 6, some(1500), 100'000) > 0);
}

TEST_CASE("coreRMA: the engine agrees with the definitions on random programs", "[oracle]") {
  int compared = 0;
  for (const char* model : {"corerma", "corerma-verbs", "corerma-unordered"})
    compared += compare_with_definitions(model, 5, some(200), 8'000);
  CHECK(compared > 0);
}

TEST_CASE("rdmatso: the engine agrees with the operational machine on random programs", "[oracle]") {
  test::RandomShape shape;
  shape.model = "rdmatso";
  shape.total_max = 8;
  int compared = 0;
  const auto [first, last] = seeds(some(1000));
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_document(seed, shape);
    const Program p = parse_text(document, "random").front();
    const test::ReferenceResult expected = test::machine(p, 20'000 / loco::test::kShare);
    if (expected.gave_up) continue;
    ++compared;
    INFO("replay: LITMUS_SEED=" << seed << " test_litmus\n" << document);
    REQUIRE(enumerate(p).outcomes == expected.outcomes);
  }
  CHECK(compared > 0);
}

TEST_CASE("remote atomics: the engine agrees with the definitions on random programs", "[oracle]") {
  for (const char* model : {"rdmatso", "rdmawait", "loco"})
    CHECK(compare_with_definitions(model, 4, some(100), 100'000, true) > 0);
}

namespace {

/// Outcome sets against the operational machine, programs with atomics. Returns how many were compared.
int compare_with_machine(const std::string& model, std::uint64_t first, std::uint64_t last, std::uint64_t states,
                         const std::string& variant, test::AtomicUnits units) {
  test::RandomShape shape;
  shape.model = model;
  shape.total_max = 7;
  shape.atomics = true;
  Options options;
  if (!variant.empty()) choose_variant(variant, options.model_options);
  int compared = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_document(seed, shape);
    const Program p = parse_text(document, "random").front();
    const test::ReferenceResult expected = test::machine(p, states, units);
    if (expected.gave_up) continue;
    ++compared;
    INFO("replay: LITMUS_SEED=" << seed << " test_litmus, " << model << " " << variant << "\n" << document);
    REQUIRE(enumerate(p, options).outcomes == expected.outcomes);
  }
  return compared;
}

}  // namespace

TEST_CASE("remote atomics: the engine agrees with the operational machine on random programs", "[oracle]") {
  const auto [first, last] = seeds(some(50));
  for (const char* model : {"rdmatso", "rdmawait"}) {
    CHECK(compare_with_machine(model, first, last, 20'000 / loco::test::kShare, "", {}) > 0);
    CHECK(compare_with_machine(model, first, last, 5'000 / loco::test::kShare, "banked-atomics", {.banked = true}) > 0);
    CHECK(compare_with_machine(model, first, last, 5'000 / loco::test::kShare, "global-atomics", {.global = true}) > 0);
  }
}

TEST_CASE("remote atomics: the engine agrees with the operational machine on 10,000 programs", "[.long]") {
  for (const char* model : {"rdmatso", "rdmawait"}) {
    CHECK(compare_with_machine(model, 1, 6'501, 40'000, "", {}) > 5'000);
    CHECK(compare_with_machine(model, 1, 1'001, 20'000, "banked-atomics", {.banked = true}) > 500);
    CHECK(compare_with_machine(model, 1, 1'001, 20'000, "global-atomics", {.global = true}) > 500);
  }
}

namespace {
struct VerbsCompared {
  int programs = 0;
  std::size_t outcomes = 0;
};
VerbsCompared compare_with_verbs_machine(const test::RandomVerbs& shape, std::uint64_t count) {
  VerbsCompared total;
  const auto [first, last] = seeds(count);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_verbs_document(seed, shape);
    INFO("replay: LITMUS_SEED=" << seed << " test_litmus\n" << document);
    const Program p = parse_text(document, "random").front();
    const test::ReferenceResult expected = test::verbs_machine(p, 40'000 / loco::test::kShare);
    if (expected.gave_up) continue;
    Options o;
    o.outcomes_only = true;
    const Result found = enumerate(p, o);
    if (!found.complete) continue;
    REQUIRE(found.outcomes == expected.outcomes);
    ++total.programs;
    total.outcomes += expected.outcomes.size();
  }
  return total;
}
}  // namespace

TEST_CASE("verbs: the engine agrees with the operational machine on random programs", "[oracle]") {
  const VerbsCompared found = compare_with_verbs_machine({.total_max = 6}, some(150));
  INFO(found.programs << " programs, " << found.outcomes << " outcomes");
  CHECK((found.programs == 1 || found.outcomes > some(50) / loco::test::kShare));
}

TEST_CASE("verbs: so it does with unreliable queue pairs", "[oracle]") {
  const VerbsCompared found = compare_with_verbs_machine({.total_max = 5, .unreliable = true}, some(150));
  INFO(found.programs << " programs, " << found.outcomes << " outcomes");
  CHECK((found.programs == 1 || found.outcomes > some(50) / loco::test::kShare));
}

TEST_CASE("verbs: the engine agrees with the operational machine on 10,000 random programs", "[.long]") {
  const VerbsCompared reliable = compare_with_verbs_machine({.operations_max = 5, .total_max = 8}, 6000);
  const VerbsCompared all = compare_with_verbs_machine({.unreliable = true}, 4000);
  WARN(reliable.programs + all.programs << " programs, " << reliable.outcomes + all.outcomes << " outcomes");
  if (std::getenv("LITMUS_SEED") == nullptr)
    CHECK(reliable.programs + all.programs > 9000 / static_cast<int>(loco::test::kShare));
}
