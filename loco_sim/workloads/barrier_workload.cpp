// The paper's barrier benchmark (LOCO paper, Fig. 18b and Section 6.1).
#include <memory>
#include <optional>

#include "loco_sim/loco/manager.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/message_collectives.hpp"
#include "loco_sim/workloads/thread_team.hpp"

namespace loco::workloads {

barrier_options options_under(const LibraryFaults& faults, barrier_options options) {
  if (faults.has(LibraryFault::barrier_without_fence)) options.fence = barrier_options::Fence::none;
  return options;
}

message_rank::Costs library_costs(const Params& params) {
  return {.sent_ps = params.get("library_send_ns") * 1000, .received_ps = params.get("library_ns") * 1000};
}

namespace {

void barrier_program(Transport& node, const Setup& setup, MessageNetwork* network) {
  const std::uint32_t threads = setup.params.count("threads_per_node");
  const std::int64_t iterations = setup.params.get("iterations");
  manager mgr(node);
  barrier bar(mgr, "bar",
              options_under(setup.faults, {.fence = static_cast<barrier_options::Fence>(setup.params.get("fence")),
                                           .threads_per_node = threads}));
  std::optional<message_boxes> boxes;
  if (network != nullptr) boxes.emplace(node, threads, 0);
  mgr.wait_for_ready();
  run_team(node, threads, [&](std::uint32_t thread) {
    std::optional<message_rank> rank;
    std::optional<message_barrier> messages;
    if (network != nullptr) {
      rank.emplace(node, *network, *boxes, thread, library_costs(setup.params));
      messages.emplace(*rank, node.num_nodes() * threads,
                       static_cast<BarrierAlgorithm>(setup.params.get("algorithm") - 1));
    }
    bar.waiting();  // all start the measured rounds together
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::int64_t t0 = node.now_ps();
      messages ? messages->waiting() : bar.waiting();
      setup.results.add("barrier", t0, node.now_ps());
    }
    if (messages) bar.waiting();  // nobody leaves before the last message has come
  });
}
}  // namespace

void start_barrier(const Setup& setup) {
  std::shared_ptr<MessageNetwork> network;
  if (setup.params.get("algorithm") != 0)
    network = std::make_shared<MessageNetwork>(setup.cluster,
                                               MessageOptions{.ports_per_node = setup.params.count("threads_per_node"),
                                                              .words_max = 1,
                                                              .inlined = setup.params.get("inline") != 0});
  setup.cluster.spawn_everywhere([&setup, network](Transport& node) { barrier_program(node, setup, network.get()); });
}

}  // namespace loco::workloads
