// Nodes of the B+ tree against std::map: what is in a leaf, which child a key belongs to, what a split leaves.
#include "loco_sim/baselines/tree_node.hpp"

#include <map>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::baselines::kKeyMax;
using loco::baselines::tree_node;
using loco::baselines::tree_place;

namespace {

using Leaf = std::map<std::uint64_t, std::uint64_t>;

Leaf live(const tree_node& leaf) {
  Leaf result;
  for (std::size_t i = 0; i < tree_node::kEntries; ++i) {
    REQUIRE(leaf.entry_intact(i));
    if (!leaf.is_free(i)) REQUIRE(result.emplace(leaf.entry_of(i).key, leaf.entry_of(i).value).second);
  }
  return result;
}

/// A full leaf of random keys.
tree_node full_leaf(loco::sim::Stream& random, Leaf& entries) {
  tree_node leaf(0, 0, kKeyMax);
  while (entries.size() < tree_node::kEntries) {
    const std::uint64_t key = 1 + random.below(1'000);
    if (entries.emplace(key, key + 1).second) leaf.set_entry(entries.size() - 1, key, key + 1);
  }
  return leaf;
}

}  // namespace

TEST_CASE("a place survives its word, and no place has the word 0") {
  for (const tree_place place : {tree_place{0, 0}, {3, 7}, {1'023, (std::uint64_t{1} << 39U)}}) {
    CHECK(place.word() != 0);
    CHECK(tree_place::of(place.word()) == place);
  }
}

TEST_CASE("a leaf that is halved keeps the lower half; what has gone counts no more, and may be written over") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    loco::sim::Stream random(seed, "leaf");
    Leaf all;
    tree_node leaf = full_leaf(random, all);
    REQUIRE(live(leaf) == all);
    leaf.set_sibling({2, 9});
    const std::uint64_t version = leaf.version();
    const tree_node before = leaf;
    const tree_node upper = leaf.split({1, 5});
    Leaf low = live(leaf), high = live(upper);
    CHECK(low.size() == tree_node::kEntries / 2);
    CHECK(low.rbegin()->first < high.begin()->first);
    CHECK(leaf.last() + 1 == upper.lowest());
    CHECK(upper.lowest() == high.begin()->first);
    CHECK(upper.last() == kKeyMax);
    CHECK(leaf.sibling() == tree_place{1, 5});
    CHECK(upper.sibling() == tree_place{2, 9});
    CHECK(leaf.version() > version);
    // Whoever has the old header and a new entry sees that the entry is newer; old entries are as they were.
    for (std::size_t i = 0; i < tree_node::kEntries; ++i) CHECK(leaf.entry_of(i).version <= version);
    for (std::size_t i = tree_node::kHeaderWords; i < tree_node::kWords; ++i)
      CHECK(leaf.words()[i] == before.words()[i]);
    low.merge(high);
    CHECK(low == all);
    for (std::size_t i = 0; i < tree_node::kEntries; ++i)
      if (leaf.is_free(i)) {
        leaf.set_entry(i, 0, 77);
        CHECK(leaf.entry_of(i).version == leaf.version());
        CHECK(live(leaf).at(0) == 77);
        break;
      }
  }
}

TEST_CASE("a child is found as in a map, before and after an inner node is halved") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    loco::sim::Stream random(seed, "inner");
    tree_node inner(1, 0, kKeyMax);
    inner.set_leftmost({7, 0});
    std::map<std::uint64_t, std::uint64_t> children{{0, 0}};  // by lowest key
    while (children.size() <= tree_node::kChildren) {
      const std::uint64_t key = 1 + random.below(1'000);
      if (!children.emplace(key, children.size()).second) continue;
      REQUIRE(inner.insert_child({key, {7, children.at(key)}}));
    }
    CHECK_FALSE(inner.insert_child({2'000, {7, 99}}));
    const auto expected = [&](std::uint64_t key) { return std::prev(children.upper_bound(key))->second; };
    for (std::uint64_t key = 0; key < 1'100; ++key) REQUIRE(inner.child_for(key) == tree_place{7, expected(key)});
    tree_node upper = inner.split({4, 4});
    for (std::uint64_t key = 0; key < 1'100; ++key) {
      const tree_node& half = inner.covers(key) ? inner : upper;
      REQUIRE(half.covers(key));
      REQUIRE(half.child_for(key) == tree_place{7, expected(key)});
    }
    // Whole when sealed, not when one word of it is another's.
    upper.seal();
    CHECK(upper.intact());
    upper.word(tree_node::kHeaderWords + 1) ^= 1U;
    CHECK_FALSE(upper.intact());
  }
}

TEST_CASE("an entry of which one word is another's is not intact") {
  tree_node leaf(0, 0, kKeyMax);
  leaf.set_entry(3, 5, 8);
  for (std::size_t word = 0; word < tree_node::kEntryWords; ++word) {
    tree_node torn = leaf;
    torn.word(tree_node::entry_at(3) + word) ^= 4U;
    CHECK_FALSE(torn.entry_intact(3));
  }
  CHECK(leaf.entry_intact(3));
}
