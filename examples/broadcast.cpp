// Four simulated nodes: node 0 broadcasts a value, all meet at a barrier, all read it. Then the run is checked.
#include <array>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"

int main() try {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  config.nodes = 4;
  config.record = true;

  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::owned_var<double> temperature(mgr, "temperature", 0);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) {
      temperature.store(21.5);
      temperature.push_broadcast();
    }
    bar.waiting();
    fmt::print("node {} reads {} after {} ns\n", mgr.my_node(), temperature.load(), node.now_ps() / 1000);
  });
  cluster.run();

  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  fmt::print("{}\n", loco::model::check(cluster.take_trace(), libraries).to_text());
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
