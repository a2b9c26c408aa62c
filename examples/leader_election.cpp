// Four simulated nodes want to lead, all at once, until each has led a term. Then the run is checked.
#include "examples/leader_election.hpp"

#include <array>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"

void program(loco::Transport& node) {
  loco::manager mgr(node);
  leader_election election(mgr, "election");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  std::optional<std::uint32_t> term;
  while (!(term = election.campaign())) node.compute(10'000'000);  // let the others finish
  fmt::print("node {} leads term {} after {} ns\n", mgr.my_node(), *term, node.now_ps() / 1000);
  bar.waiting();
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
