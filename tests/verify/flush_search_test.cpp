// Smallest placements of flushes, against trying all placements.
#include "verify/flush_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/verify/naive_search.hpp"
#include "tests/verify/programs.hpp"
#include "tests/verify/random_program.hpp"
#include "verify/explicit_engine.hpp"
#include "verify/hitting_sets.hpp"

namespace {

using namespace loco::verify;
using loco::test::parsed;

FlushSearch searched(const Program& program, Network network = Network::kUnordered) {
  const auto engine = explicit_engine();
  return search_flushes(*engine, {program, all_flushes(program), network, {}});
}

/// All smallest placements, each of the others having been tried; nothing when that would take too long.
std::optional<std::vector<Elements>> tried(const Program& program, Network network) {
  std::vector<Elements> best;
  const auto flushes = static_cast<std::uint32_t>(program.flushes.size());
  for (std::uint32_t set = 0; set < (1U << flushes); ++set) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    if (!best.empty() && size > best.front().size()) continue;
    FlushMask mask;
    Elements elements;
    for (std::uint32_t f = 0; f < flushes; ++f) {
      mask.push_back(((set >> f) & 1U) != 0);
      if (mask.back()) elements.push_back(f);
    }
    const auto naive = loco::test::naive_search(program, mask, network, 1000, 6);
    if (naive.broken) continue;
    if (!naive.complete) return std::nullopt;
    if (!best.empty() && size < best.front().size()) best.clear();
    best.push_back(elements);
  }
  return best;
}

}  // namespace

TEST_CASE("hitting sets come smallest first and each once") {
  HittingSets sets(4);
  sets.require({0, 1});
  sets.require({1, 2});
  CHECK(sets.next(0) == std::nullopt);
  CHECK(sets.next(1) == Elements{1});
  sets.exclude({1});
  CHECK(sets.next(1) == std::nullopt);
  std::vector<Elements> found;
  while (const auto next = sets.next(2)) {
    found.push_back(*next);
    sets.exclude(*next);
  }
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<Elements>{{0, 1}, {0, 2}, {1, 2}, {1, 3}});
}

TEST_CASE("the paper's example needs the flush after its put") {
  const FlushSearch result = searched(parsed(loco::test::kPutThenStore));
  CHECK(result.placements == std::vector<Elements>{{0}});
}

TEST_CASE("Peterson's lock needs four of seven flushes") {
  const FlushSearch result = searched(parsed(loco::test::kPeterson));
  REQUIRE(result.found);
  for (const Elements& placement : result.placements) CHECK(placement.size() == 4);
  CHECK(result.undecided.empty());
  CHECK(searched(parsed(loco::test::kPeterson), Network::kSc).placements == std::vector<Elements>{{}});
}

TEST_CASE("there is nothing to search when all flushes do not suffice") {
  const FlushSearch result = searched(parsed("process 1 { flush(1); } assert final (0);"));
  CHECK_FALSE(result.found);
  CHECK(result.all.verdict == Verdict::kUnsafe);
}

TEST_CASE("the search gives all smallest placements of random programs") {
  int searches = 0;
  int with_flushes = 0;
  for (std::uint32_t seed = 0; seed < 120 / loco::test::kShare; ++seed) {
    const std::string text = loco::test::random_program(seed);
    const Program program = with_flush_after_every_remote(parsed(text));
    if (program.flushes.empty() || program.flushes.size() > 3) continue;
    const Network network = static_cast<Network>(seed % 3);
    const FlushSearch result = searched(program, network);
    if (!result.found) continue;
    INFO("seed " << seed << " under " << name(network) << "\n" << text);
    const auto expected = tried(program, network);
    if (!expected) continue;
    CHECK(result.placements == *expected);
    ++searches;
    if (!result.placements.front().empty()) ++with_flushes;
  }
  CHECK(searches > 0);
  if (loco::test::kShare > 1) return;  // sanitized: few seeds
  CHECK(searches > 10);
  CHECK(with_flushes > 0);
}
