// Four simulated nodes add to a counter and meet at a barrier; then all see the same sum. The run is checked.
#include "examples/counter.hpp"

#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/objects/barrier.hpp"

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

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  return examples::main(argc, argv, {.nodes = 4, .libraries = libraries, .program = program});
}
