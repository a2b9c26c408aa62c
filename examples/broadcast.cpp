// Four simulated nodes: node 0 broadcasts a value, all meet at a barrier, all read it. Then the run is checked.
#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"

void program(loco::Transport& node) {
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
}

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  return examples::main(argc, argv, {.nodes = 4, .libraries = libraries, .program = program});
}
