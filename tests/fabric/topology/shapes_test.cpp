// Shows: every kind has the hosts, switches and cables of its closed form, the ports that the header promises, and
// the rates and delays asked for.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fabric/topology/topology.hpp"
#include "tests/catch.hpp"

using namespace loco::fabric::topology;
using namespace loco::sim::literals;
using loco::sim::BitsPerSecond;
using loco::sim::Duration;

namespace {

/// The promises of topology.hpp that hold for every graph.
void check_well_formed(const Topology& t) {
  std::size_t ports = 0;
  for (VertexId v = 0; v < t.vertices(); ++v) {
    PortId port = 0;
    for (const LinkId l : t.ports(v)) {
      REQUIRE(t.link(l).from == v);
      REQUIRE(t.link(l).from_port == port);
      REQUIRE(t.out(v, port) == l);
      ++port;
    }
    ports += port;
  }
  REQUIRE(ports == t.links().size());
  for (LinkId l = 0; l < t.links().size(); ++l) {
    const Link& forth = t.link(l);
    const Link& back = t.link(opposite(l));
    REQUIRE((forth.from == back.to && forth.to == back.from && forth.from_port == back.to_port &&
             forth.to_port == back.from_port && forth.spec == back.spec));
  }
}

void check_counts(const Parameters& parameters, const Size& expected) {
  INFO(describe(parameters));
  const Topology t = build(parameters);
  CHECK(t.hosts() == expected.hosts);
  CHECK(t.switches() == expected.switches);
  CHECK(t.cables() == expected.cables);
  CHECK(size_of(parameters) == expected);
  check_well_formed(t);
}

/// Cables between each pair of switches of a dragonfly's different groups, counted by pair of groups.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cables_between_groups(const Topology& t,
                                                                                       std::uint32_t routers) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> count;
  for (const Link& l : t.links()) {
    if (t.is_host(l.from) || t.is_host(l.to)) continue;
    const std::uint32_t a = (l.from - t.hosts()) / routers;
    const std::uint32_t b = (l.to - t.hosts()) / routers;
    if (a < b) ++count[{a, b}];
  }
  return count;
}

}  // namespace

TEST_CASE("Counts of the small kinds") {
  check_counts(BackToBack{}, {2, 0, 1});
  check_counts(Star{1}, {1, 1, 1});
  check_counts(Star{8}, {8, 1, 8});
  check_counts(Ring{2}, {2, 2, 3});  // a circle of two is one cable
  check_counts(Ring{7}, {7, 7, 14});
}

TEST_CASE("Counts of leaf-spine: L*H hosts, L+S switches, L*H + L*S cables") {
  check_counts(LeafSpine{4, 2, 4, 0}, {16, 6, 16 + 8});
  check_counts(LeafSpine{1, 1, 1, 0}, {1, 2, 2});
  check_counts(LeafSpine{32, 16, 16, 1}, {512, 48, 512 + 512});
}

TEST_CASE("Counts of fat trees: k^3/4 hosts, 5k^2/4 switches of k ports, 3k^3/4 cables") {
  for (const std::uint32_t k : {2U, 4U, 6U, 8U, 16U}) {
    check_counts(FatTree{k}, {k * k * k / 4, 5 * k * k / 4, 3 * k * k * k / 4});
    const Topology t = build(FatTree{k});
    for (std::uint32_t s = 0; s < t.switches(); ++s) CHECK(t.ports(t.switch_vertex(s)).size() == k);
  }
}

TEST_CASE("Aggregation switch i of every pod of a fat tree has the cores from i*k/2 on") {
  constexpr std::uint32_t kHalf = 3;
  const Topology t = build(FatTree{2 * kHalf});
  constexpr std::uint32_t kLevel = 2 * kHalf * kHalf;  // edge switches, and as many aggregation switches behind them
  for (std::uint32_t pod = 0; pod < 2 * kHalf; ++pod)
    for (std::uint32_t i = 0; i < kHalf; ++i)
      for (std::uint32_t up = 0; up < kHalf; ++up) {
        const Link& link = t.link(t.out(t.switch_vertex(kLevel + pod * kHalf + i), kHalf + up));
        CHECK(link.to == t.switch_vertex(2 * kLevel + i * kHalf + up));
        CHECK(link.to_port == pod);
      }
}

TEST_CASE("Counts of dragonflies: g*a*p hosts, g*a routers, g*a(a-1)/2 local and g*a*h/2 global cables") {
  // Kim et al., ISCA 2008, Figure 5: p = h = 2, a = 4 gives g = 9 and N = 72 with routers of k = p + a + h - 1 = 7
  check_counts(Dragonfly{9, 4, 2, 2}, {72, 36, 72 + 9 * 6 + 36});
  const Topology t = build(Dragonfly{9, 4, 2, 2});
  for (std::uint32_t s = 0; s < t.switches(); ++s) CHECK(t.ports(t.switch_vertex(s)).size() == 7);
  // the same form with h = 4: a = 8, p = 4, g = 33, N = 1056
  check_counts(Dragonfly{33, 8, 4, 4}, {1056, 264, 1056 + 33 * 28 + 33 * 16});
  check_counts(Dragonfly{1, 4, 3, 2}, {12, 4, 12 + 6});
  check_counts(Dragonfly{2, 3, 1, 1}, {6, 6, 6 + 6 + 3});
  // 3 groups of 3 routers with one global port each: 3 ports a group for 2 others, so one is left free
  check_counts(Dragonfly{3, 3, 1, 1}, {9, 9, 9 + 9 + 3});
  // 4 groups of 5 ports: 3 others, 5 = 3 + 2, and 20 ports make 10 cables
  check_counts(Dragonfly{4, 5, 1, 1}, {20, 20, 20 + 40 + 10});
  // 4 groups of 4 ports: 3 + 1, the one to the group opposite
  check_counts(Dragonfly{4, 4, 1, 1}, {16, 16, 16 + 24 + 8});
}

TEST_CASE("Groups of a dragonfly share their global links evenly") {
  for (const Dragonfly& p : {Dragonfly{9, 4, 2, 2}, Dragonfly{5, 4, 2, 2}, Dragonfly{6, 4, 2, 2}, Dragonfly{4, 5, 1, 1},
                             Dragonfly{7, 5, 1, 3}}) {
    INFO(describe(p));
    const auto count = cables_between_groups(build(p), p.routers_per_group);
    const std::uint32_t share = p.routers_per_group * p.global_links_per_router / (p.groups - 1);
    CHECK(count.size() == std::size_t{p.groups} * (p.groups - 1) / 2);
    for (const auto& [pair, n] : count) CHECK((n == share || n == share + 1));
  }
}

TEST_CASE("Counts of tori: one router a point, one cable a router and dimension, half of that in a dimension of two") {
  check_counts(Torus{{4, 4}, 1}, {16, 16, 16 + 32});
  check_counts(Torus{{3, 4, 5}, 2}, {120, 60, 120 + 180});
  check_counts(Torus{{2, 2, 2}, 1}, {8, 8, 8 + 12});  // the cube
  check_counts(Torus{{2, 5}, 1}, {10, 10, 10 + 5 + 10});
}

TEST_CASE("A ring is a torus of one dimension") {
  const Topology ring = build(Ring{6});
  const Topology torus = build(Torus{{6}, 1});
  CHECK(std::equal(ring.links().begin(), ring.links().end(), torus.links().begin(), torus.links().end()));
}

TEST_CASE("Links have the rate and delay given, uplinks those of the oversubscription") {
  const LinkSpec link{25_Gbps, 50_ns};
  const Topology tree = build(FatTree{4}, link);
  for (const Link& l : tree.links()) CHECK(l.spec == link);
  const auto uplink = [&](const LeafSpine& p) {
    const Topology t = build(p, link);
    return t.link(t.out(t.switch_vertex(0), p.hosts_per_leaf)).spec;
  };
  CHECK(uplink({4, 2, 4, 0}) == link);
  // 4 hosts * 25 Gb/s = 100 Gb/s down; 1:1 over 2 spines is 50 each, 2:1 is 25, 4:1 is 12.5
  CHECK(uplink({4, 2, 4, 1}) == LinkSpec{50_Gbps, 50_ns});
  CHECK(uplink({4, 2, 4, 2}) == LinkSpec{25_Gbps, 50_ns});
  CHECK(uplink({4, 2, 4, 4}) == LinkSpec{BitsPerSecond{12'500'000'000}, 50_ns});
  // 75 Gb/s over 2 spines and 4:1 is 9.375; over 7 spines and 1:1 it is 10714285714.29 bit/s, rounded up
  CHECK(uplink({4, 2, 3, 4}).rate == BitsPerSecond{9'375'000'000});
  CHECK(uplink({4, 7, 3, 1}).rate == BitsPerSecond{10'714'285'715});
}

TEST_CASE("Delays of links in general are bounded as those of single cables are") {
  CHECK(build(Star{2}, {25_Gbps, kDelayMax}).link(0).spec.delay == kDelayMax);
  for (const Duration delay : {kDelayMax + Duration{1}, Duration{-1}})
    CHECK_THROWS_AS(build(Star{2}, {25_Gbps, delay}), TopologyError);
}

TEST_CASE("Custom cables keep their own rate and delay, and one cable can be changed") {
  Topology t = build(Custom{2, 1, {{0, 2}, {2, 1, 10_Gbps, 1_us}}}, {100_Gbps, 5_ns});
  CHECK(t.link(0).spec == LinkSpec{100_Gbps, 5_ns});
  CHECK(t.link(3).spec == LinkSpec{10_Gbps, 1_us});
  const Topology before = t;
  t.set_cable(0, {40_Gbps, 7_ns});
  CHECK(t.link(0).spec == LinkSpec{40_Gbps, 7_ns});
  CHECK(t.link(1).spec == LinkSpec{40_Gbps, 7_ns});
  CHECK_FALSE(t == before);
  CHECK_THROWS_AS(t.set_cable(2, {}), std::out_of_range);
}

TEST_CASE("The same parameters give the same graph") {
  CHECK(build(Dragonfly{}) == build(Dragonfly{}));
  CHECK_FALSE(build(Dragonfly{}) == build(Dragonfly{8, 4, 2, 2}));
}
