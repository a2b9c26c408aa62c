// Four simulated nodes add to a counter and meet at a barrier; then all see the same sum. The run is checked.
#include "examples/counter.hpp"

#include <array>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"

void program(loco::Transport& node) {
  loco::manager mgr(node);
  counter visitors(mgr, "visitors");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (std::uint64_t i = 0; i < 10; ++i) visitors.add(i);
  visitors.flush();
  bar.waiting();
  fmt::print("node {} counts {}\n", mgr.my_node(), visitors.value());
}

int main() try {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  config.nodes = 4;
  config.record = true;

  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();

  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  fmt::print("{}\n", loco::model::check(cluster.take_trace(), libraries).to_text());
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
