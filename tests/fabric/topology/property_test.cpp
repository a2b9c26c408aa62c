// Shows, on random graphs, random sizes of every kind and random failures: candidates are on shortest paths (by a
// search of this file's own), every choice ends at the destination, deterministic and ecmp choose among the candidates.
// To replay one case: LOCO_SIM_TOPOLOGY_SEED=<seed> test_topology "[property]"
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "fabric/topology/reports.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using namespace loco::fabric::topology;
using loco::sim::Stream;

namespace {

std::uint32_t draw(Stream& random, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(random.below(most - least + 1));
}

/// A random tree of switches with extra cables (some parallel), and hosts with one to three cables.
Custom random_graph(Stream& random) {
  Custom p{draw(random, 2, 12), draw(random, 1, 12), {}, Metric::hops};
  const auto any_switch = [&] { return p.hosts + draw(random, 0, p.switches - 1); };
  for (std::uint32_t s = 1; s < p.switches; ++s) p.edges.push_back({p.hosts + s, p.hosts + draw(random, 0, s - 1)});
  for (std::uint32_t extra = draw(random, 0, 2 * p.switches); extra > 0; --extra) {
    const Edge e{any_switch(), any_switch()};
    if (e.a != e.b) p.edges.push_back(e);
  }
  for (VertexId h = 0; h < p.hosts; ++h) {
    for (std::uint32_t n = draw(random, 0, 9) < 7 ? 1 : draw(random, 2, 3); n > 0; --n) {
      p.edges.push_back({h, any_switch()});
    }
  }
  return p;
}

Parameters random_parameters(Stream& random) {
  switch (random.below(6)) {
    case 0:
      return LeafSpine{draw(random, 1, 6), draw(random, 1, 6), draw(random, 1, 5), draw(random, 0, 4)};
    case 1:
      return FatTree{2 * draw(random, 1, 4)};
    case 2: {
      Dragonfly p{1, draw(random, 1, 5), draw(random, 1, 3), draw(random, 1, 3)};
      p.groups = draw(random, 1, p.routers_per_group * p.global_links_per_router + 1);
      return p;
    }
    case 3: {
      Torus p{{}, draw(random, 1, 2)};
      for (std::uint32_t n = draw(random, 1, 3); n > 0; --n) p.dims.push_back(draw(random, 2, 5));
      return p;
    }
    case 4:
      return Ring{draw(random, 2, 20)};
    default:
      return random_graph(random);
  }
}

/// Links from every vertex to `destination`, hosts on the way left out; plain breadth-first search.
std::vector<std::uint32_t> distances(const Topology& t, VertexId destination, const std::vector<bool>& down) {
  std::vector<std::uint32_t> d(t.vertices(), std::numeric_limits<std::uint32_t>::max());
  d[destination] = 0;
  for (std::deque<VertexId> open = {destination}; !open.empty(); open.pop_front()) {
    const VertexId v = open.front();
    if (t.is_host(v) && v != destination) continue;
    for (const LinkId l : t.ports(v)) {
      const VertexId w = t.link(l).to;
      if (down[cable_of(l)] || d[w] != std::numeric_limits<std::uint32_t>::max()) continue;
      d[w] = d[v] + 1;
      open.push_back(w);
    }
  }
  return d;
}

/// All candidates are exactly the ports that lead one link closer.
void check_candidates(const Topology& t, const Routes& r, VertexId destination, const std::vector<bool>& down) {
  const auto d = distances(t, destination, down);
  for (VertexId v = 0; v < t.vertices(); ++v) {
    std::vector<PortId> closer;
    for (const LinkId l : t.ports(v)) {
      const VertexId w = t.link(l).to;
      if (!down[cable_of(l)] && d[v] != 0 && d[v] != std::numeric_limits<std::uint32_t>::max() &&
          (!t.is_host(w) || w == destination) && d[w] + 1 == d[v])
        closer.push_back(t.link(l).from_port);
    }
    const auto c = r.candidates(v, destination);
    REQUIRE(std::vector<PortId>(c.begin(), c.end()) == closer);
  }
}

/// Every walk ends at the destination with the length of the first, over no other host.
void check_walks(const Topology& t, const Routes& r, VertexId source, VertexId destination) {
  const std::uint32_t hops = hop_count(t, r, source, destination);
  REQUIRE((hops > 0) == (source != destination));
  for (const Routing routing : {Routing::deterministic, Routing::ecmp, Routing::spray}) {
    const auto links = path(t, r, routing, {source, destination, 17});
    REQUIRE(links.size() == hops);
    VertexId at = source;
    for (const LinkId l : links) {
      REQUIRE(t.link(l).from == at);
      const auto c = r.candidates(at, destination);
      REQUIRE(std::count(c.begin(), c.end(), t.link(l).from_port) == 1);
      at = t.link(l).to;
      REQUIRE((!t.is_host(at) || at == destination));
    }
    REQUIRE(at == destination);
  }
}

/// Every fourth cable down: what is left is routed over, what is cut off has no candidates.
void check_failures(const Topology& t, Stream& random) {
  std::vector<bool> down(t.cables());
  std::vector<CableId> failed;
  for (CableId c = 0; c < t.cables(); ++c) {
    if (!random.chance(1, 4)) continue;
    down[c] = true;
    failed.push_back(c);
  }
  const Routes r = Routes::search(t, failed);
  for (VertexId d = 0; d < t.hosts(); ++d) check_candidates(t, r, d, down);
}

void check_case(std::uint64_t seed) {
  Stream random(seed, "topology.property");
  const Parameters p = random_parameters(random);
  INFO("replay: LOCO_SIM_TOPOLOGY_SEED=" << seed << " test_topology \"[property]\"; " << describe(p));
  const Topology t = build(p);
  const Routes r(t);
  REQUIRE(r == Routes(t));
  REQUIRE(size_of(p) == Size{t.hosts(), t.switches(), t.cables()});
  const std::vector<bool> all_up(t.cables());
  std::uint32_t longest = 0;
  for (VertexId d = 0; d < t.hosts(); ++d) {
    if (t.kind() != Kind::dragonfly) check_candidates(t, r, d, all_up);
    for (VertexId s = 0; s < t.hosts(); ++s) {
      check_walks(t, r, s, d);
      longest = std::max(longest, hop_count(t, r, s, d));
    }
  }
  REQUIRE(diameter(t, r) == longest);
  check_failures(t, random);
  if (t.kind() != Kind::dragonfly) return;
  // Minimal is at most local, global, local between the hosts' cables, and no path at all is shorter than the search's.
  REQUIRE(longest <= 5);
  for (VertexId d = 0; d < t.hosts(); ++d) REQUIRE(hop_count(t, r, 0, d) >= distances(t, d, all_up)[0]);
}

}  // namespace

TEST_CASE("Routes of random networks are shortest and arrive", "[property]") {
  if (const char* seed = std::getenv("LOCO_SIM_TOPOLOGY_SEED")) {
    check_case(std::stoull(seed));
    return;
  }
  for (std::uint64_t seed = 1; seed <= 150; ++seed) check_case(seed);
}
