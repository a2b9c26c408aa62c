// Four simulated nodes lead one after the other and append three entries each; all have the same log then. Checked.
#include "examples/replicated_log.hpp"

#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/objects/barrier.hpp"

constexpr std::uint32_t kEach = 3;

void program(loco::Transport& node) {
  loco::manager mgr(node);
  replicated_log log(mgr, "log", /*slots=*/mgr.num_nodes() * kEach);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  const std::uint32_t me = mgr.my_node();
  while (me != 0 && !log.committed(me * kEach - 1)) node.pause();
  if (!log.lead()) throw std::logic_error("nobody else wants to lead");
  for (std::uint32_t i = 0; i < kEach; ++i)
    if (!log.append(100 * me + i)) throw std::logic_error("nobody else leads");
  bar.waiting();
  std::string text;
  for (std::uint64_t slot = 0; slot < mgr.num_nodes() * kEach; ++slot) text += fmt::format(" {}", *log.committed(slot));
  fmt::print("node {} has{}\n", me, text);
}

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  return examples::main(argc, argv, {.nodes = 4, .libraries = libraries, .program = program});
}
