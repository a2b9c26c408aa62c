// Strong components against their definition, on small random graphs.
#include "model/graph.hpp"

#include <functional>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::model;

TEST_CASE("points are of one component exactly when each reaches the other") {
  const std::function<void()> nothing;
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = 1 + random() % 9;
    std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));
    Adjacency graph;
    graph.begin = {0};
    for (std::size_t p = 0; p < n; ++p) {
      reaches[p][p] = true;
      for (std::size_t e = random() % 3; e > 0; --e) {
        graph.to.push_back(static_cast<PointId>(random() % n));
        reaches[p][graph.to.back()] = true;
      }
      graph.begin.push_back(static_cast<std::uint32_t>(graph.to.size()));
    }
    for (std::size_t via = 0; via < n; ++via)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) reaches[a][b] = reaches[a][b] || (reaches[a][via] && reaches[via][b]);
    const std::vector<std::uint32_t> component = strong_components(graph, Poll(nothing));
    INFO("round " << round);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) CHECK((component[a] == component[b]) == (reaches[a][b] && reaches[b][a]));
  }
}
