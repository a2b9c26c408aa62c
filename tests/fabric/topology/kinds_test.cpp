// Shows: the table of parameters and the structs say the same; mistakes name the key, what was expected and found.
#include "fabric/topology/kinds.hpp"

#include <string>
#include <vector>

#include "fabric/topology/topology.hpp"
#include "tests/catch.hpp"

using namespace loco::fabric::topology;
using loco::sim::BitsPerSecond;
using loco::sim::Duration;

namespace {

std::string mistake(const Parameters& parameters) {
  const auto problem = validate(parameters);
  return problem ? problem->message() : "none";
}

std::string build_mistake(const Parameters& parameters) {
  try {
    (void)build(parameters);
  } catch (const TopologyError& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("Kinds are found by name, in the order of the enumeration") {
  REQUIRE(kinds().size() == std::variant_size_v<Parameters>);
  for (std::size_t i = 0; i < kinds().size(); ++i) {
    CHECK(kinds()[i].kind == static_cast<Kind>(i));
    CHECK(kind_of(kinds()[i].name) == static_cast<Kind>(i));
    CHECK_FALSE(kinds()[i].doc.empty());
  }
  CHECK(kind_of("hypercube") == std::nullopt);
}

TEST_CASE("The defaults in the table are those of the structs") {
  for (const KindInfo& k : kinds()) {
    if (k.kind == Kind::custom) continue;  // has no defaults but the metric's
    const std::string text = describe(parameters_from(k.kind, {}));
    std::string expected = std::string(k.name) + "(";
    for (const loco::options::Option& p : k.parameters) {
      CHECK_FALSE(p.doc.empty());
      if (p.key == "oversubscription") {  // is left out where links are as fast as they are
        CHECK(loco::options::default_text(p) == "0");
        continue;
      }
      if (expected.back() != '(') expected += ", ";
      expected += std::string(p.key) + "=" + loco::options::default_text(p);
    }
    CHECK(text == expected + ")");
  }
  CHECK(loco::options::default_text(info(Kind::custom).parameters[3]) == "hops");
  CHECK(Custom{}.metric == Metric::hops);
}

TEST_CASE("Parameters come from settings") {
  const std::vector<Setting> settings = {{"dims", {3, 4, 5}}, {"hosts_per_router", {2}}};
  CHECK(parameters_from(Kind::torus, settings) == Parameters(Torus{{3, 4, 5}, 2}));
  CHECK(parameters_from(Kind::custom, std::vector<Setting>{{"hosts", {2}}, {"metric", {1}}}) ==
        Parameters(Custom{2, 0, {}, Metric::delay}));
  CHECK_THROWS_WITH(parameters_from(Kind::star, std::vector<Setting>{{"k", {4}}}),
                    "topology.k: expected a parameter of star, found this key");
  CHECK_THROWS_WITH(parameters_from(Kind::star, std::vector<Setting>{{"nodes", {1'000'000}}}),
                    "topology.nodes: expected an integer from 1 to 65536, found 1000000");
  CHECK_THROWS_WITH(parameters_from(Kind::star, std::vector<Setting>{{"nodes", {-1}}}),
                    "topology.nodes: expected an integer from 1 to 65536, found -1");
  CHECK_THROWS_WITH(parameters_from(Kind::torus, std::vector<Setting>{{"dims", {4, 1}}}),
                    "topology.dims[1]: expected an integer from 2 to 65536, found 1");
  CHECK_THROWS_WITH(parameters_from(Kind::custom, std::vector<Setting>{{"metric", {2}}}),
                    "topology.metric: expected hops or delay, found 2");
}

TEST_CASE("Wrong parameters are named") {
  CHECK(mistake(FatTree{5}) == "topology.k: expected an even integer from 2 to 64, found 5");
  CHECK(mistake(FatTree{66}) == "topology.k: expected an integer from 2 to 64, found 66");
  CHECK(mistake(Star{0}) == "topology.nodes: expected an integer from 1 to 65536, found 0");
  CHECK(mistake(Torus{{}, 1}) == "topology.dims: expected a list of 1 to 8 integers, found 0 of them");
  CHECK(mistake(Torus{std::vector<std::uint32_t>(8, 2), 1}) == "none");
  CHECK(mistake(Torus{std::vector<std::uint32_t>(9, 2), 1}) ==
        "topology.dims: expected a list of 1 to 8 integers, found 9 of them");
  // a*h + 1 = 4*2 + 1 = 9 groups at most (Kim et al., section 3.1)
  CHECK(mistake(Dragonfly{9, 4, 2, 2}) == "none");
  CHECK_THAT(mistake(Dragonfly{10, 4, 2, 2}), loco::test::contains_text("= 9 groups"));
}

TEST_CASE("Sizes are bounded, also where products overflow") {
  // 4096 leaves of 256 hosts: 1,048,576
  CHECK(mistake(LeafSpine{4096, 1, 256, 0}) == "topology: expected at most 65536 hosts, found 1048576 hosts");
  CHECK_THAT(mistake(Torus{{256, 256, 2}, 1}), loco::test::contains_text("found 131072 hosts"));
  CHECK_THAT(mistake(Torus{std::vector<std::uint32_t>(8, 65'536), 1024}),
             loco::test::contains_text("found 18446744073709551615 hosts"));
  // 4096 * 4096 cables between leaves and spines
  CHECK_THAT(mistake(LeafSpine{4096, 4096, 1, 0}), loco::test::contains_text("at most 1048576 cables"));
  CHECK(mistake(FatTree{64}) == "none");  // 64^3/4 = 65,536 hosts
}

TEST_CASE("A custom graph is checked edge by edge and for paths") {
  CHECK(mistake(Custom{2, 1, {}}) == "topology.edges: expected at least one cable, found none");
  CHECK(mistake(Custom{2, 1, {{0, 2}, {1, 3}}}) ==
        "topology.edges[1]: expected one of h0 to h1 or of 1 switches, found vertex number 3");
  CHECK(mistake(Custom{2, 1, {{2, 2}}}) == "topology.edges[0]: expected two different ends, found the same one twice");
  CHECK_THAT(mistake(Custom{2, 1, {{0, 2, {}, Duration{-5}}}}), loco::test::contains_text("found -5 ps"));
  CHECK(build_mistake(Custom{3, 1, {{0, 3}, {1, 3}}}) ==
        "topology.edges: expected a path through switches between any two hosts, found none from h0 to h2");
  // h1 stands between h0 and h2, but hosts do not forward
  CHECK_THAT(build_mistake(Custom{3, 0, {{0, 1}, {1, 2}}}), loco::test::contains_text("found none from h0 to h2"));
  CHECK(build_mistake(Custom{3, 0, {{0, 1}, {1, 2}, {2, 0}}}) == "none");
  // two planes: h0-h1 on one switch, h0-h2 on the other, h1-h2 on neither
  CHECK_THAT(build_mistake(Custom{3, 2, {{0, 3}, {1, 3}, {0, 4}, {2, 4}}}),
             loco::test::contains_text("found none from h1 to h2"));
}

TEST_CASE("Vertices have names") {
  const Topology t = build(Star{3});
  CHECK(t.name(2) == "h2");
  CHECK(t.name(3) == "s0");
  CHECK(vertex_of("h2", 3, 1) == VertexId{2});
  CHECK(vertex_of("s0", 3, 1) == VertexId{3});
  for (const char* wrong : {"h3", "s1", "h", "x0", "h-1", "h1x", "", "s99999999999"}) {
    CHECK(vertex_of(wrong, 3, 1) == std::nullopt);
  }
}
