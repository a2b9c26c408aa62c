// The paper's barrier benchmark (LOCO paper, Fig. 18b and Section 6.1).
#include <optional>

#include "loco_sim/loco/manager.hpp"
#include "loco_sim/workloads/baselines.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/thread_team.hpp"

namespace loco::workloads {

barrier_options options_under(const LibraryFaults& faults, barrier_options options) {
  if (faults.has(LibraryFault::barrier_without_fence)) options.fence = barrier_options::Fence::none;
  return options;
}

namespace {
void barrier_program(Transport& node, const Setup& setup) {
  const std::uint32_t threads = setup.params.count("threads_per_node");
  const std::int64_t iterations = setup.params.get("iterations");
  manager mgr(node);
  barrier bar(mgr, "bar",
              options_under(setup.faults, {.fence = static_cast<barrier_options::Fence>(setup.params.get("fence")),
                                           .threads_per_node = threads}));
  std::optional<message_barrier> messages;
  if (const std::int64_t algorithm = setup.params.get("algorithm"); algorithm != 0)
    messages.emplace(mgr, "messages", threads, static_cast<BarrierAlgorithm>(algorithm - 1));
  mgr.wait_for_ready();
  run_team(node, threads, [&](std::uint32_t thread) {
    bar.waiting();  // all start the measured rounds together
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::int64_t t0 = node.now_ps();
      messages ? messages->waiting(thread) : bar.waiting();
      setup.results.add("barrier", t0, node.now_ps());
    }
    if (messages) bar.waiting();  // nobody leaves before the last message has come
  });
}
}  // namespace

void start_barrier(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { barrier_program(node, setup); });
}

}  // namespace loco::workloads
