// Message passing: node 0 writes a message, then a flag behind it; node 1 waits for the flag and reads the message.
// Both go to one node by one thread, so they arrive in order (LOCO paper, Fig. 9a). Then the run is checked.
#include <array>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"

int main() try {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  config.record = true;

  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::owned_var<std::uint64_t> message(mgr, "message", 0), flag(mgr, "flag", 0);
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) {
      message.store(42);
      message.push(1);
      flag.store(1);
      flag.push(1);
    } else {
      while (flag.load() == 0) node.pause();
      fmt::print("node 1 reads {} after {} ns\n", message.load(), node.now_ps() / 1000);
    }
  });
  cluster.run();

  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv};
  fmt::print("{}\n", loco::model::check(cluster.take_trace(), libraries).to_text());
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
