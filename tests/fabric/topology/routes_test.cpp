// Shows: known routes of each kind, how evenly each choice spreads, routes around failures, and that tables are small.
#include "fabric/topology/routes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "fabric/topology/reports.hpp"
#include "tests/catch.hpp"

using namespace loco::fabric::topology;
using namespace loco::sim::literals;

namespace {

using Ports = std::vector<PortId>;

Ports ports(const Routes& r, VertexId at, VertexId destination) {
  const auto c = r.candidates(at, destination);
  return {c.begin(), c.end()};
}

/// The same cables as a list, so that routes come from the search and not from the shape.
Custom as_custom(const Topology& t) {
  Custom custom{t.hosts(), t.switches(), {}};
  // A port is numbered when its cable is listed: go through all cables in an order that counts every port upwards.
  std::vector<PortId> next(t.vertices());
  std::vector<bool> listed(t.cables());
  for (bool progress = true; progress;) {
    progress = false;
    for (CableId c = 0; c < t.cables(); ++c) {
      const Link& l = t.link(c * 2);
      if (listed[c] || next[l.from] != l.from_port || next[l.to] != l.to_port) continue;
      custom.edges.push_back({l.from, l.to});
      ++next[l.from];
      ++next[l.to];
      listed[c] = progress = true;
    }
  }
  return custom;
}

}  // namespace

TEST_CASE("Hosts on one switch, and two on a cable") {
  const Topology star = build(Star{4});
  const Routes r(star);
  CHECK(ports(r, 0, 3) == Ports{0});
  CHECK(ports(r, 4, 3) == Ports{3});
  CHECK(ports(r, 3, 3).empty());
  const Routes pair(build(BackToBack{}));
  CHECK(ports(pair, 0, 1) == Ports{0});
  CHECK(ports(pair, 1, 0) == Ports{0});
  CHECK(ports(pair, 0, 0).empty());
}

TEST_CASE("Fat tree: up to anything, down to one") {
  // k = 4: hosts 0-15, edge switches 16-23, aggregation 24-31, cores 32-35; ports 0-1 down, 2-3 up
  const Routes r(build(FatTree{4}));
  CHECK(ports(r, 16, 1) == Ports{1});
  CHECK(ports(r, 16, 2) == Ports{2, 3});  // another edge switch of the pod
  CHECK(ports(r, 24, 2) == Ports{1});
  CHECK(ports(r, 16, 15) == Ports{2, 3});
  CHECK(ports(r, 24, 15) == Ports{2, 3});
  CHECK(ports(r, 33, 15) == Ports{3});
  // D-mod-k: host 13 is 0b1101: at the edge 13 mod 2 = 1, at the aggregation switch 13 div 2 mod 2 = 0
  CHECK(r.deterministic(16, 13) == 2 + 1);
  CHECK(r.deterministic(24, 13) == 2 + 0);
}

TEST_CASE("Torus: dimension order, shorter way round, both ways at half the circle") {
  // 5 x 4, router (x, y) is 20 + x + 5y; ports: 0 host, 1 x+, 2 x-, 3 y+, 4 y-
  const Routes r(build(Torus{{5, 4}, 1}));
  CHECK(ports(r, 20, 1) == Ports{1});      // (0,0) -> (1,0)
  CHECK(ports(r, 20, 4) == Ports{2});      // (4,0) is one back
  CHECK(ports(r, 20, 10) == Ports{3, 4});  // (0,2): half of four
  CHECK(ports(r, 20, 6) == Ports{1, 3});   // (1,1): either dimension first is shortest
  CHECK(r.deterministic(20, 6) == 1);      // x before y
  CHECK(r.deterministic(21, 6) == 3);
  CHECK(r.deterministic(20, 10) == 3);  // ties by destination: even, odd
  CHECK(r.deterministic(21, 11) == 4);
  // in a dimension of two there is one port for both ways
  const Routes cube(build(Torus{{2, 2}, 1}));
  CHECK(ports(cube, 4, 3) == Ports{1, 2});
}

TEST_CASE("Dragonfly: one global link, never two, local links before and after where needed") {
  const Dragonfly p{9, 4, 2, 2};
  const Topology t = build(p);
  const Routes r(t);
  for (VertexId d = 1; d < t.hosts(); ++d) {
    int global = 0;
    const auto links = path(t, r, Routing::deterministic, {0, d, 0});
    for (const LinkId l : links) {
      const Link& link = t.link(l);
      if (t.is_host(link.from) || t.is_host(link.to)) continue;
      global += (link.from - t.hosts()) / p.routers_per_group != (link.to - t.hosts()) / p.routers_per_group ? 1 : 0;
    }
    CHECK(global == (d < 8 ? 0 : 1));  // group 0 has hosts 0-7
    CHECK(links.size() <= 5);
  }
}

TEST_CASE("A shape's routes are those that a search finds") {
  for (const Parameters& p : std::vector<Parameters>{FatTree{2}, FatTree{4}, FatTree{6}, LeafSpine{4, 3, 5, 0}, Star{5},
                                                     BackToBack{}, Torus{{4, 3, 2}, 2}, Torus{{2, 2}, 1}, Ring{5}}) {
    INFO(describe(p));
    const Topology t = build(p);
    const Routes shape(t);
    const Routes found = Routes::search(t);
    const bool torus = t.kind() == Kind::torus || t.kind() == Kind::ring;  // dimension order is not searched for
    for (VertexId v = 0; v < t.vertices(); ++v) {
      for (VertexId d = 0; d < t.hosts(); ++d) {
        REQUIRE(ports(shape, v, d) == ports(found, v, d));
        if (!torus && v != d) REQUIRE(shape.deterministic(v, d) == found.deterministic(v, d));
      }
    }
  }
}

TEST_CASE("A custom list of a fat tree's cables routes like the fat tree, D-mod-k included") {
  const Topology tree = build(FatTree{4});
  const Topology list = build(as_custom(tree));
  REQUIRE(list.cables() == tree.cables());
  const Routes a(tree);
  const Routes b(list);
  for (VertexId v = 0; v < tree.vertices(); ++v) {
    for (VertexId d = 0; d < tree.hosts(); ++d) {
      REQUIRE(ports(a, v, d) == ports(b, v, d));
      if (v != d) REQUIRE(a.deterministic(v, d) == b.deterministic(v, d));
    }
  }
}

TEST_CASE("D-mod-k keeps every shift permutation free of shared links in a fat tree") {
  // Zahavi et al.: with D-mod-k a full fat tree carries shift patterns without contention: at most one flow a link.
  for (const std::uint32_t k : {4U, 8U}) {
    const Topology t = build(FatTree{k});
    const Routes r(t);
    for (std::uint32_t shift = 1; shift < t.hosts(); ++shift) {
      const auto loads = link_loads(t, r, Routing::deterministic, shift_pattern(t.hosts(), shift));
      REQUIRE(*std::max_element(loads.begin(), loads.end()) == 1);
    }
  }
}

TEST_CASE("ECMP spreads the flows of one pair over all paths, evenly as chance would") {
  // k = 8: (k/2)^2 = 16 paths between pods. 16,000 flows, 1000 a path expected. Chi-square with 15 degrees of freedom
  // exceeds 37.7 with probability 0.001 for a random choice; the labels are fixed, so the outcome is too.
  const Topology t = build(FatTree{8});
  const Routes r(t);
  std::map<std::vector<LinkId>, int> taken;
  for (std::uint64_t label = 0; label < 16'000; ++label) ++taken[path(t, r, Routing::ecmp, {0, 127, label})];
  REQUIRE(taken.size() == 16);
  double chi_square = 0;
  for (const auto& [links, n] : taken) chi_square += (n - 1000.0) * (n - 1000.0) / 1000.0;
  CHECK(chi_square < 37.7);
}

TEST_CASE("ECMP keeps a flow on its path and tells flows apart") {
  const Topology t = build(FatTree{8});
  const Routes r(t);
  CHECK(path(t, r, Routing::ecmp, {3, 99, 7}) == path(t, r, Routing::ecmp, {3, 99, 7}));
  CHECK(flow_hash(1, 2, 3) == flow_hash(1, 2, 3));
  std::set<std::uint64_t> hashes;
  for (VertexId a = 0; a < 20; ++a) {
    for (VertexId b = 0; b < 20; ++b) {
      for (std::uint64_t label = 0; label < 20; ++label) hashes.insert(flow_hash(a, b, label));
    }
  }
  CHECK(hashes.size() == 8000);
}

TEST_CASE("Hosts with two cables may use both") {
  // two planes: every host on switch 4 and on switch 5
  Custom dual{4, 2, {}};
  for (VertexId h = 0; h < 4; ++h) {
    dual.edges.push_back({h, 4});
    dual.edges.push_back({h, 5});
  }
  const Topology t = build(dual);
  const Routes r(t);
  CHECK(r.attachment(0) == Routes::kNone);
  CHECK(ports(r, 0, 3) == Ports{0, 1});
  CHECK(ports(r, 4, 3) == Ports{3});
  CHECK(path_count(t, r, 0, 3) == 2);
  // a host does not forward: without the cables h0-s5 and h3-s4 there is no path from h0 to h3
  CHECK(ports(Routes::search(t, std::vector<CableId>{1, 6}), 0, 3).empty());
}

TEST_CASE("The metric decides between few links and little delay") {
  // h0 - s0 - s1 - h1 over a slow cable, or over s2 with two fast ones
  Custom p{2, 3, {{0, 2}, {2, 3, {}, 10_us}, {3, 1}, {2, 4}, {4, 3}}};
  const LinkSpec link{100_Gbps, 1_us};
  const Topology by_hops = build(p, link);
  CHECK(hop_count(by_hops, Routes(by_hops), 0, 1) == 3);
  p.metric = Metric::delay;
  const Topology by_delay = build(p, link);
  CHECK(hop_count(by_delay, Routes(by_delay), 0, 1) == 4);
  p.edges[1].delay = 2_us;  // as long as the way round: fewer links win
  const Topology tie = build(p, link);
  CHECK(hop_count(tie, Routes(tie), 0, 1) == 3);
  CHECK(path_count(tie, Routes(tie), 0, 1) == 1);
  p.edges[1].delay =
      2_us + loco::sim::Duration{1};  // a link counts as a picosecond: now both are shortest, of different length
  const Topology both = build(p, link);
  CHECK(path_count(both, Routes(both), 0, 1) == 2);
}

TEST_CASE("Routes lead around failed cables and end where there are none") {
  const Topology t = build(LeafSpine{2, 2, 1, 0});  // h0 h1, leaves 2 3, spines 4 5; cables: 0-1 hosts, 2-5 up
  CHECK(ports(Routes::search(t), 2, 1) == Ports{1, 2});
  CHECK(ports(Routes::search(t, std::vector<CableId>{2}), 2, 1) == Ports{2});
  // leaf 0 up only to spine 0, leaf 1 only to spine 1
  const Routes parted = Routes::search(t, std::vector<CableId>{3, 4});
  CHECK(ports(parted, 2, 1).empty());
  CHECK(path(t, parted, Routing::deterministic, {0, 1, 0}).empty());
  CHECK(hop_count(t, parted, 0, 1) == 0);
  const Routes unplugged = Routes::search(t, std::vector<CableId>{1});
  CHECK(ports(unplugged, 0, 1).empty());
  CHECK(ports(unplugged, 2, 1).empty());
  CHECK(ports(unplugged, 1, 0).empty());
  CHECK_THROWS_AS(Routes::search(t, std::vector<CableId>{6}), std::out_of_range);
}

TEST_CASE("Routes around a failed cable are those of the network without it, D-mod-k included") {
  // The fat tree, and a switch 5 that without the cable 4-5 is two steps from the nearest hosts instead of one:
  // h0 - 4 - 6 = 5 = 7 - 8 - h1 h2 h3
  const Custom far{4, 5, {{0, 4}, {1, 8}, {2, 8}, {3, 8}, {4, 6}, {6, 5}, {6, 5}, {5, 7}, {5, 7}, {7, 8}, {4, 5}}};
  for (Custom custom : {as_custom(build(FatTree{4})), far}) {
    const Topology t = build(custom);
    const Routes around = Routes::search(t, std::vector<CableId>{t.cables() - 1});  // no other port has a number after
    custom.edges.pop_back();
    const Routes without = Routes::search(build(custom));
    for (VertexId v = 0; v < t.vertices(); ++v)
      for (VertexId d = 0; d < t.hosts(); ++d) {
        if (v == d) continue;
        CAPTURE(v, d);
        CHECK(ports(around, v, d) == ports(without, v, d));
        CHECK(around.deterministic(v, d) == without.deterministic(v, d));
      }
  }
}

TEST_CASE("Routes are values: equal from equal graphs, and copies") {
  const Topology t = build(Dragonfly{});
  const Routes a(t);
  const Routes copy = a;
  CHECK(a == Routes(build(Dragonfly{})));
  CHECK(copy == a);
  CHECK_FALSE(a == Routes(build(Dragonfly{8, 4, 2, 2})));
}

TEST_CASE("Tables are small, and too large ones are refused") {
  // 1,024 hosts in a few MB: the bound asked of a fat tree of k = 16
  CHECK(Routes(build(FatTree{16})).memory_bytes() < std::size_t{1} << 20U);
  CHECK(Routes(build(Torus{{8, 8, 16}, 1})).memory_bytes() < std::size_t{1} << 20U);
  CHECK(Routes(build(Dragonfly{33, 8, 4, 4})).memory_bytes() < std::size_t{1} << 20U);
  // a custom line of 8,192 switches with a host each would need 2^26 entries
  Custom line{8192, 8192, {}};
  for (VertexId h = 0; h < 8192; ++h) {
    line.edges.push_back({h, 8192 + h});
    if (h != 0) line.edges.push_back({8192 + h - 1, 8192 + h});
  }
  CHECK_THROWS_WITH(Routes(build(line)), loco::test::contains_text("found 8192 times 8192"));
}
