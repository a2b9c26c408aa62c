// Node 0 has 100 tasks of 10 us; three other nodes take some of them off its deque. Then the run is checked.
#include <array>
#include <fmt/core.h>

#include "examples/any_transport.hpp"
#include "examples/work_deque.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"

void program(loco::Transport& node) {
  loco::manager mgr(node);
  work_deque tasks(mgr, "tasks", /*owner=*/0, /*capacity=*/128);
  loco::owned_var<std::uint64_t> ended(mgr, "ended", 0);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  std::uint64_t done = 0, sum = 0;
  const auto work = [&](work_deque::Task task) {
    node.compute(10'000'000);
    ++done;
    sum += task;
  };
  if (mgr.my_node() == 0) {
    for (work_deque::Task task = 1; task <= 100; ++task)
      if (!tasks.push(task)) throw std::logic_error("no room");
    while (const auto task = tasks.pop()) work(*task);
    ended.store(1);
    ended.push_broadcast();
  } else {
    while (ended.load() == 0)  // each turn asks node 0: there is nothing to pause for
      if (const auto task = tasks.steal()) work(*task);
  }
  fmt::print("node {} has done {} tasks\n", mgr.my_node(), done);
  loco::atomic_var<std::uint64_t> total(mgr, "total");
  total.wait_for_ready();
  total.fetch_add(sum);
  bar.waiting();
  if (mgr.my_node() == 0)
    fmt::print("together 1 + ... + 100 = {} after {} us\n", total.load(), node.now_ps() / 1'000'000);
  bar.waiting();
}

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
  return examples::main(argc, argv, {.nodes = 4, .libraries = libraries, .program = program});
}
