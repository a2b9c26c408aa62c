// Shows: diameters, numbers of paths, bisections and loads of each kind as their closed forms, and which routes may
// deadlock.
#include "fabric/topology/reports.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::fabric::topology;

namespace {

std::uint32_t diameter_of(const Parameters& p) {
  const Topology t = build(p);
  return diameter(t, Routes(t));
}

std::uint32_t bisection_of(const Parameters& p) { return bisection_links(build(p)); }

bool cyclic(const Parameters& p, Routing routing) {
  const Topology t = build(p);
  return has_cyclic_dependency(t, Routes(t), routing);
}

double largest(const std::vector<double>& loads) { return *std::max_element(loads.begin(), loads.end()); }
double sum(const std::vector<double>& loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }

}  // namespace

TEST_CASE("Diameters in links, the hosts' cables included") {
  CHECK(diameter_of(BackToBack{}) == 1);
  CHECK(diameter_of(Star{1}) == 0);
  CHECK(diameter_of(Star{9}) == 2);
  CHECK(diameter_of(LeafSpine{1, 2, 4, 0}) == 2);
  CHECK(diameter_of(LeafSpine{4, 2, 4, 0}) == 4);
  CHECK(diameter_of(FatTree{4}) == 6);
  CHECK(diameter_of(FatTree{8}) == 6);
  CHECK(diameter_of(Dragonfly{9, 4, 2, 2}) == 5);  // local, global, local
  CHECK(diameter_of(Dragonfly{1, 4, 1, 1}) == 3);
  for (const std::uint32_t n : {2U, 3U, 4U, 9U, 16U}) CHECK(diameter_of(Ring{n}) == n / 2 + 2);
  CHECK(diameter_of(Torus{{5, 4, 2}, 1}) == 2 + 2 + 1 + 2);
}

TEST_CASE("Cables, diameters and bisections of small rings, tori and dragonflies (docs/topologies.md)") {
  // A dimension of 2 has one cable between its routers.
  CHECK(build(Ring{2}).cables() == 3);
  CHECK(bisection_of(Ring{2}) == 1);
  CHECK(build(Ring{3}).cables() == 6);
  CHECK(build(Torus{{2, 2}, 1}).cables() == 4 + 2 + 2);
  CHECK(bisection_of(Torus{{2, 2}, 4}) == 2);
  CHECK(build(Torus{{4, 2}, 1}).cables() == 8 + 8 + 4);
  // One group has no global cables; with one router a group there are no local ones.
  CHECK(build(Dragonfly{1, 4, 2, 2}).cables() == 8 + 6);
  CHECK(diameter_of(Dragonfly{1, 4, 2, 2}) == 3);
  CHECK(diameter_of(Dragonfly{1, 1, 2, 1}) == 2);
  CHECK(diameter_of(Dragonfly{3, 1, 2, 2}) == 3);
  for (std::uint32_t g = 2; g <= 9; ++g) {
    for (const std::uint32_t a : {2U, 3U, 4U}) {
      for (const std::uint32_t h : {1U, 2U, 3U}) {
        if (g > a * h + 1) continue;
        CAPTURE(g, a, h);
        const Dragonfly shape{g, a, 2, h};
        const std::uint32_t free = g % 2 == 1 && a * h % 2 == 1 ? 1 : 0;  // one port of each group
        CHECK(build(shape).cables() == g * a * 2 + g * a * (a - 1) / 2 + g * (a * h - free) / 2);
        // Each router has a link to every other group: one local step at most.
        CHECK(diameter_of(shape) == (h >= g - 1 ? 4 : 5));
      }
    }
  }
}

TEST_CASE("Numbers of shortest paths") {
  const Topology tree = build(FatTree{8});
  const Routes tree_routes(tree);
  CHECK(path_count(tree, tree_routes, 0, 1) == 1);     // one edge switch
  CHECK(path_count(tree, tree_routes, 0, 4) == 4);     // one pod: k/2
  CHECK(path_count(tree, tree_routes, 0, 127) == 16);  // two pods: (k/2)^2
  CHECK(path_count(tree, tree_routes, 5, 5) == 1);
  const Topology clos = build(LeafSpine{4, 3, 4, 0});
  CHECK(path_count(clos, Routes(clos), 0, 15) == 3);  // spines
  // 8 x 8 torus, (0,0) -> (2,3): the binomial coefficient of 5 over 2; -> (4,0): both ways round
  const Topology torus = build(Torus{{8, 8}, 1});
  const Routes torus_routes(torus);
  CHECK(path_count(torus, torus_routes, 0, 2 + 3 * 8) == 10);
  CHECK(path_count(torus, torus_routes, 0, 4) == 2);
  // with a*h + 1 groups there is one global link between two of them, hence one minimal path
  const Topology fly = build(Dragonfly{9, 4, 2, 2});
  const Routes fly_routes(fly);
  for (VertexId d = 1; d < fly.hosts(); ++d) CHECK(path_count(fly, fly_routes, 0, d) == 1);
}

TEST_CASE("Bisections") {
  CHECK(bisection_of(BackToBack{}) == 1);
  CHECK(bisection_of(Star{8}) == 4);
  CHECK(bisection_of(FatTree{4}) == 8);  // half of the hosts: full bisection
  CHECK(bisection_of(FatTree{8}) == 64);
  CHECK(bisection_of(LeafSpine{4, 2, 8, 0}) == 4);  // 2 leaves to 2 spines, whichever side a spine is on
  CHECK(bisection_of(LeafSpine{4, 8, 2, 0}) == 4);  // more spines than hosts need: the hosts' cables
  CHECK(bisection_of(Ring{8}) == 2);
  CHECK(bisection_of(Torus{{8, 4}, 4}) == 2 * 4);  // 2N/n across the longest dimension, n = 8, N = 32
  CHECK(bisection_of(Torus{{4, 8}, 4}) == 2 * 4);
  CHECK(bisection_of(Torus{{2, 2, 2}, 4}) == 4);  // the cube: N/2
}

TEST_CASE("Loads of an incast") {
  const Topology t = build(FatTree{8});
  const Routes r(t);
  const auto flows = incast_pattern(t.hosts(), 5);
  REQUIRE(flows.size() == 127);
  for (const Routing routing : {Routing::deterministic, Routing::ecmp, Routing::adaptive, Routing::spray}) {
    const auto loads = link_loads(t, r, routing, flows);
    CHECK(loads[opposite(t.out(5, 0))] == Approx(127));  // everything comes in over the receiver's cable
    CHECK(loads[t.out(0, 0)] == Approx(1));
    // 3 flows of 2 links (same edge switch), 12 of 4 (same pod), 112 of 6
    CHECK(sum(loads) == Approx(3 * 2 + 12 * 4 + 112 * 6));
  }
}

TEST_CASE("Spraying a permutation over a full fat tree loads every link at most once") {
  const Topology t = build(FatTree{8});
  const Routes r(t);
  const auto flows = permutation_pattern(t.hosts(), 11);
  CHECK(largest(link_loads(t, r, Routing::spray, flows)) <= 1 + 1e-9);
  CHECK(largest(link_loads(t, r, Routing::ecmp, flows)) > 1);  // flows collide by chance: what spraying is for
}

TEST_CASE("A shift by half a ring shares both directions evenly") {
  // 8 flows of 4 links over 16 links between routers: 2 each
  const Topology t = build(Ring{8});
  const auto loads = link_loads(t, Routes(t), Routing::deterministic, shift_pattern(8, 4));
  for (LinkId l = 0; l < t.links().size(); ++l) {
    const bool access = t.is_host(t.link(l).from) || t.is_host(t.link(l).to);
    CHECK(loads[l] == (access ? 1 : 2));
  }
}

TEST_CASE("Patterns are what they are called") {
  const auto flows = permutation_pattern(100, 3);
  std::vector<int> sent(100), received(100);
  for (const Flow& f : flows) {
    CHECK(f.source != f.destination);
    ++sent[f.source];
    ++received[f.destination];
  }
  CHECK(sent == std::vector<int>(100, 1));
  CHECK(received == sent);
  CHECK(flows == permutation_pattern(100, 3));
  // Nobody sends to itself: a random permutation of 100 has none such in one case of e only.
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const Flow& f : permutation_pattern(100, seed)) CHECK(f.source != f.destination);
  CHECK_FALSE(flows == permutation_pattern(100, 4));
  CHECK(permutation_pattern(1, 1).empty());
  CHECK(shift_pattern(4, 4).empty());
}

TEST_CASE("Up-down routes cannot deadlock, circles can") {
  for (const Routing routing : {Routing::deterministic, Routing::ecmp}) {
    CHECK_FALSE(cyclic(BackToBack{}, routing));
    CHECK_FALSE(cyclic(Star{5}, routing));
    CHECK_FALSE(cyclic(LeafSpine{4, 3, 2, 0}, routing));
    CHECK_FALSE(cyclic(FatTree{4}, routing));
    // Dally and Seitz: the ring of k-ary n-cubes is a cycle unless it has a second lane
    CHECK(cyclic(Ring{5}, routing));
    CHECK(cyclic(Torus{{4, 4}, 1}, routing));
    CHECK(cyclic(Dragonfly{9, 4, 2, 2}, routing));
  }
  // A circle of four: 0 -> 2 and 2 -> 0 go forwards, 1 -> 3 and 3 -> 1 backwards, so nobody goes on from 1-2 or 3-0.
  CHECK_FALSE(cyclic(Ring{4}, Routing::deterministic));
  CHECK(cyclic(Ring{4}, Routing::adaptive));
  // Paths of one step never wait for each other on a circle of three. Up to three a dimension, dimension order is
  // that of a mesh without wrap-around waits; taking dimensions in any order is not.
  CHECK_FALSE(cyclic(Ring{3}, Routing::deterministic));
  CHECK_FALSE(cyclic(Torus{{3, 3}, 1}, Routing::deterministic));
  CHECK(cyclic(Torus{{3, 3}, 1}, Routing::adaptive));
}

TEST_CASE("Routes around failed cables of a tree may go down and up again: then they are circles") {
  // The edge switches of pod 2 have one aggregation switch left each, another one each: between them, and to one of
  // them from the other's cores, packets go by an edge switch of some other pod.
  const Topology t = build(FatTree{4});
  const auto cable = [&](std::uint32_t edge, std::uint32_t aggregation) {
    for (const LinkId l : t.ports(t.switch_vertex(edge)))
      if (t.link(l).to == t.switch_vertex(aggregation)) return cable_of(l);
    throw std::logic_error("no such cable");
  };
  const std::vector<CableId> one = {cable(4, 13)};
  const std::vector<CableId> two = {cable(4, 13), cable(5, 12)};
  CHECK_FALSE(has_cyclic_dependency(t, Routes::search(t, one), Routing::ecmp));
  CHECK(has_cyclic_dependency(t, Routes::search(t, two), Routing::ecmp));
}
