// Node 0 shares a number, all nodes meet at a barrier; behind it, everybody reads the number. Then the run is checked.
#include <array>
#include <cstdio>
#include <exception>
#include <loco_sim/loco.hpp>

static void program(loco::Transport& node) {
  loco::manager mgr(node);
  loco::owned_var<double> temperature(mgr, "temperature", 0);  // written by node 0, read by all
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  if (mgr.my_node() == 0) {
    temperature.store(21.5);
    temperature.push_broadcast();
  }
  bar.waiting();
  std::printf("node %u reads %.1f after %lld ns\n", mgr.my_node(), temperature.load(),
              static_cast<long long>(node.now_ps() / 1000));
}

int main(int argc, char** argv) try {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware(argc > 1 ? argv[1] : "cx5-roce-25g").profile;
  config.nodes = 4;
  config.record = true;  // for the checkers

  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();

  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  const auto verdict = loco::model::check(cluster.take_trace(), libraries);
  std::printf("%s", verdict.to_text().c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
