// The paper's barrier benchmark (LOCO paper, Fig. 18b and Section 6.1).
#include <memory>
#include <string>

#include "loco_sim/baselines/message_collectives.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/workloads/attendance.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "sim/rng.hpp"

namespace loco::workloads {

using namespace baselines;  // implementations that LOCO is compared with

barrier_options options_under(const LibraryFaults& faults, barrier_options options) {
  if (faults.has(LibraryFault::barrier_without_fence)) options.fence = barrier_options::Fence::none;
  return options;
}

message_rank::Costs library_costs(const Params& params) {
  return {.sent_ps = params.get("library_send_ns") * 1000, .received_ps = params.get("library_ns") * 1000};
}

namespace {

/// Every thread: one round, so that all start the measured rounds together, then those.
template <typename Wait>
void rounds(Transport& node, const Setup& setup, Attendance& attendance, const Wait& wait) {
  const auto iterations = setup.params.amount("iterations");
  const std::uint32_t participants = node.num_nodes() * setup.params.count("threads_per_node");
  for (std::uint64_t round = 0; round <= iterations; ++round) {
    const std::int64_t t0 = node.now_ps();
    attend(attendance, round, setup.results, wait);
    if (round > 0) setup.results.add("barrier", t0, node.now_ps(), participants);
  }
}

void barrier_program(Transport& node, const Setup& setup, Attendance& attendance) {
  const std::uint32_t threads = setup.params.count("threads_per_node");
  manager mgr(node);
  barrier bar(mgr, "bar",
              options_under(setup.faults, {.fence = static_cast<barrier_options::Fence>(setup.params.get("fence")),
                                           .threads_per_node = threads}));
  mgr.wait_for_ready();
  run_team(node, threads, [&](std::uint32_t) { rounds(node, setup, attendance, [&bar] { bar.waiting(); }); });
}

/// Processes do not start in step: each begins at its own time in the first microsecond. In perfect step the messages
/// of many ranks would never meet, and a round of 128 would take a tenth less.
constexpr std::uint64_t kStartSpreadPs = 1'000'000;

void message_program(Transport& node, const Setup& setup, Attendance& attendance, MessageNetwork& network) {
  const std::uint32_t threads = setup.params.count("threads_per_node");
  message_boxes boxes(node, threads, 0);
  run_team(node, threads, [&](std::uint32_t thread) {
    message_rank rank(node, network, boxes, thread, library_costs(setup.params));
    message_barrier bar(rank, node.num_nodes() * threads,
                        static_cast<BarrierAlgorithm>(setup.params.get("algorithm") - 1));
    sim::Stream starts(setup.cluster.config().seed, "barrier/start/" + std::to_string(rank.rank()));
    node.compute(static_cast<std::int64_t>(starts.below(kStartSpreadPs)));
    rounds(node, setup, attendance, [&bar] { bar.waiting(); });
  });
}
}  // namespace

void start_barrier(const Setup& setup) {
  const std::uint64_t threads = std::uint64_t{setup.cluster.config().nodes} * setup.params.count("threads_per_node");
  const auto attendance = std::make_shared<Attendance>(threads);
  if (setup.params.get("algorithm") == 0) {
    setup.cluster.spawn_everywhere(
        [&setup, attendance](Transport& node) { barrier_program(node, setup, *attendance); });
    return;
  }
  const auto network = std::make_shared<MessageNetwork>(
      setup.cluster.context(), MessageOptions{.ports_per_node = setup.params.count("threads_per_node"),
                                              .words_max = 1,
                                              .inlined = setup.params.get("inline") != 0});
  setup.cluster.spawn_everywhere(
      [&setup, attendance, network](Transport& node) { message_program(node, setup, *attendance, *network); });
}

}  // namespace loco::workloads
