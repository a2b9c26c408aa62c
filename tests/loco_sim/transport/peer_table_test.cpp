// A value for each peer, while they are few and when they have become many.
#include "loco_sim/transport/peer_table.hpp"

#include "tests/catch.hpp"

TEST_CASE("values of peers are the same while they are few and when they are many") {
  constexpr loco::NodeId kPeers = 100;
  loco::PeerTable<int> table;
  CHECK(table.find(7) == nullptr);
  for (loco::NodeId i = 0; i < 40; ++i) {  // 37 is prime to 100: each time another peer, in no order
    const loco::NodeId peer = i * 37 % kPeers;
    table.at(peer, kPeers) = static_cast<int>(peer) + 1;
    int known = 0;
    int sum = 0;
    table.for_each([&](int value) {
      known += value == 0 ? 0 : 1;
      sum += value;
    });
    int expected = 0;
    for (loco::NodeId k = 0; k <= i; ++k) {
      const loco::NodeId other = k * 37 % kPeers;
      REQUIRE(table.find(other) != nullptr);
      CHECK(*table.find(other) == static_cast<int>(other) + 1);
      expected += static_cast<int>(other) + 1;
    }
    CHECK(known == static_cast<int>(i) + 1);
    CHECK(sum == expected);
  }
  CHECK(table.at(40 * 37 % kPeers, kPeers) == 0);
}
