// The table of a key-value store's index against std::unordered_map.
#include "loco_sim/loco/store/kv_table.hpp"

#include <unordered_map>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::kv_location;
using loco::kv_table;

namespace {

using Reference = std::unordered_map<std::uint64_t, kv_location>;

void require_same(const kv_table& table, const Reference& reference, std::uint64_t keys) {
  REQUIRE(table.size() == reference.size());
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto found = reference.find(key);
    const std::optional<kv_location> here = table.find(key);
    REQUIRE(here.has_value() == (found != reference.end()));
    if (here) REQUIRE(*here == found->second);
  }
}

}  // namespace

TEST_CASE("a table does what a map does, whatever is inserted and erased in whichever order") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    loco::sim::Stream random(seed, "kv_table");
    const std::uint64_t keys = 1 + random.below(seed % 6 == 0 ? 2'000 : 40);  // runs of neighbours, wrapping ones too
    kv_table table;
    Reference reference;
    for (int i = 0; i < 3'000; ++i) {
      const std::uint64_t key = random.below(keys);
      const kv_location where{static_cast<loco::NodeId>(random.below(1'000)), random.below(1ULL << 40U), random()};
      switch (random.below(4)) {
        case 0:
          REQUIRE(table.insert(key, where) == reference.emplace(key, where).second);
          break;
        case 1:
          table.insert_or_assign(key, where);
          reference.insert_or_assign(key, where);
          break;
        default:
          table.erase(key);
          reference.erase(key);
      }
      if (i % 100 == 0) require_same(table, reference, keys + 3);
    }
    require_same(table, reference, keys + 3);
  }
}

TEST_CASE("a table grows, and keeps all there is; any number is a key") {
  kv_table table;
  Reference reference;
  std::vector<std::uint64_t> keys{0, ~std::uint64_t{0}, 1ULL << 63U};
  for (std::uint64_t i = 1; i < 20'000; ++i) keys.push_back(i << 24U);
  for (const std::uint64_t key : keys) {
    const kv_location where{static_cast<loco::NodeId>(key % 7), key >> 30U, key};
    REQUIRE(table.insert(key, where));
    reference.emplace(key, where);
  }
  CHECK(table.size() == reference.size());
  for (const auto& [key, where] : reference) REQUIRE(table.find(key) == where);
  for (const std::uint64_t key : keys) table.erase(key);
  CHECK(table.size() == 0);
  for (const std::uint64_t key : keys) REQUIRE(!table.find(key));
}

TEST_CASE("a location that has no place in a table is refused, and the largest one has it") {
  kv_table table;
  const std::uint64_t slots = std::uint64_t{1} << 40U;
  CHECK_THROWS_AS(table.insert(1, {0, slots, 0}), loco::size_error);
  CHECK_THROWS_AS(table.insert(1, {1U << 24U, 0, 0}), loco::size_error);
  CHECK_THROWS_AS(table.insert_or_assign(1, {(1U << 24U) - 1, slots - 1, 0}), loco::size_error);
  CHECK(table.size() == 0);
  const kv_location largest{(1U << 24U) - 1, slots - 2, ~std::uint64_t{0}};
  CHECK(table.insert(1, largest));
  CHECK(table.find(1) == largest);
}
