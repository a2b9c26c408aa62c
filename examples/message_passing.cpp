// Message passing: node 0 writes a message, then a flag behind it; node 1 waits for the flag and reads the message.
// Both go to one node by one thread, so they arrive in order (LOCO paper, Fig. 9a). Then the run is checked.
#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"

void program(loco::Transport& node) {
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
}

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv};
  return examples::main(argc, argv, {.nodes = 2, .libraries = libraries, .program = program});
}
