// The watch set against the standard library's set, with as many keys as a thread may look at.
#include "nic_model/host/watch_set.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::nic::watch_key;
using loco::nic::WatchKind;
using loco::nic::WatchSet;

namespace {
/// Words, as they lie in memory, flags and completion queues; the wider the range, the fewer come twice.
std::uint64_t any_key(loco::sim::Stream& random, std::uint64_t range) {
  const std::uint64_t number = random.below(range);
  switch (random.below(3)) {
    case 0:
      return watch_key(WatchKind::word, 0x7f0000000000 + 8 * number);
    case 1:
      return watch_key(WatchKind::flag, number);
    default:
      return watch_key(WatchKind::cq, number);
  }
}

WatchSet of(const std::vector<std::uint64_t>& keys) {
  WatchSet result;
  for (const std::uint64_t key : keys) result.add(key);
  return result;
}
}  // namespace

TEST_CASE("a watch set says what std::set says") {
  loco::sim::Stream random(11, "watch set");
  WatchSet set;  // one for all, so that what clear() leaves behind would show
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t range = std::uint64_t{1} << random.below(12);
    const std::uint64_t count = random.below(std::uint64_t{1} << random.below(11));
    std::set<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t key = any_key(random, range);
      set.add(key);
      expected.insert(key);
    }
    INFO("round " << round << ", " << expected.size() << " keys");
    REQUIRE_FALSE(set.everything());
    REQUIRE(std::set<std::uint64_t>(set.keys().begin(), set.keys().end()) == expected);
    REQUIRE(set.keys().size() == expected.size());
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t key = any_key(random, 2 * range);
      REQUIRE(set.touched_by(key) == expected.contains(key));
      const std::uint64_t first = watch_key(WatchKind::word, 0x7f0000000000 + 8 * random.below(2 * range));
      const std::uint64_t last = first + 8 * random.below(100);
      const auto found = expected.lower_bound(first);
      REQUIRE(set.touched_by_words(first, last) == (found != expected.end() && *found <= last));
    }
    set.clear();
    REQUIRE(set == WatchSet());
  }
}

TEST_CASE("watch sets are equal when their keys are, whatever they held before") {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 100; ++i) keys.push_back(watch_key(WatchKind::flag, i * i));
  WatchSet used = of(keys);
  used.clear();
  for (const std::size_t count : {0U, 1U, 32U, 33U, 100U}) {
    keys.resize(100);
    const std::vector<std::uint64_t> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count));
    for (const std::uint64_t key : some) used.add(key);
    CHECK(used == of(some));
    const WatchSet copy = used;
    CHECK(copy.touched_by(watch_key(WatchKind::flag, 81)) == (count > 9));
    used.clear();
    CHECK((copy == used) == (count == 0));
  }
}

TEST_CASE("a thread that looks at very many things watches everything") {
  WatchSet set;
  for (std::uint64_t i = 0; i < WatchSet::kMax; ++i) set.add(watch_key(WatchKind::word, 8 * i));
  CHECK_FALSE(set.everything());
  CHECK_FALSE(set.touched_by(watch_key(WatchKind::cq, 3)));
  set.add(watch_key(WatchKind::word, 0));  // has been looked at already
  CHECK_FALSE(set.everything());
  set.add(watch_key(WatchKind::flag, 7));
  CHECK(set.everything());
  CHECK(set.touched_by(watch_key(WatchKind::cq, 3)));
  CHECK(set.touched_by_words(1U << 30U, 1U << 31U));
  set.clear();
  CHECK_FALSE(set.touched_by(watch_key(WatchKind::cq, 3)));
}
