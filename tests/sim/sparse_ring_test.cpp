// Shows: a SparseRing holds what a std::deque holds, whatever is pushed, popped, copied, moved and cleared.
// A failure names its seed.
#include "sim/sparse_ring.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

namespace {

struct Item {
  std::uint64_t value = 0;
  bool operator==(const Item&) const = default;
};
using Ring = loco::sim::SparseRing<Item>;

void check_same(const Ring& ring, const std::deque<std::uint64_t>& model) {
  REQUIRE(ring.size() == model.size());
  REQUIRE(ring.empty() == model.empty());
  for (std::size_t i = 0; i < model.size(); ++i) REQUIRE(ring[i].value == model[i]);
}

}  // namespace

TEST_CASE("a sparse ring is a queue, and its copies are its equals") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    loco::sim::Stream stream(seed, "sparse ring");
    std::vector<Ring> rings(4);
    std::vector<std::deque<std::uint64_t>> models(4);
    for (std::uint64_t step = 0; step < 2000; ++step) {
      const std::size_t i = stream.below(4), j = stream.below(4);
      const std::uint64_t what = stream.below(20);
      if (what < 10) {
        rings[i].push_back({step});
        models[i].push_back(step);
      } else if (what < 17) {
        if (models[i].empty()) continue;
        REQUIRE(rings[i].front().value == models[i].front());
        rings[i].pop_front();
        models[i].pop_front();
      } else if (what == 17) {
        rings[i] = rings[j];
        models[i] = models[j];
        REQUIRE(rings[i] == rings[j]);
      } else if (what == 18 && i != j) {
        rings[i] = std::move(rings[j]);
        models[i] = std::move(models[j]);
        rings[j] = Ring();
        models[j].clear();
      } else if (what == 19) {
        rings[i].clear();
        models[i].clear();
      }
      check_same(rings[i], models[i]);
      check_same(rings[j], models[j]);
    }
  }
}

TEST_CASE("sparse rings differ by what they hold, not by where in their storage") {
  Ring a, b;
  for (std::uint64_t i = 0; i < 5; ++i) a.push_back({i});
  for (std::uint64_t i = 0; i < 3; ++i) a.pop_front();
  b.push_back({3});
  CHECK_FALSE(a == b);
  b.push_back({4});
  CHECK(a == b);
  CHECK(sizeof(Ring) == sizeof(void*));
}
