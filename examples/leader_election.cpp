// Four simulated nodes want to lead, all at once, until each has led a term. Then the run is checked.
#include "examples/leader_election.hpp"

#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/objects/barrier.hpp"

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

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  return examples::main(argc, argv, {.nodes = 4, .libraries = libraries, .program = program});
}
