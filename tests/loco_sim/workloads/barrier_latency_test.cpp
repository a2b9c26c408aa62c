// The barrier workload: its time a round is the sum of its stages (docs/barrier-latency.md), over messages too.
#include <bit>
#include <numeric>
#include <span>

#include "loco_sim/baselines/message_collectives.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

namespace workloads = loco::workloads;

TEST_CASE("1,000 barriers of 8 nodes on cx5-roce-25g take the sum of their stages to within 5 %", "[figures]") {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  for (const std::uint32_t nodes : {2U, 3U, 4U, 8U, 16U}) {
    if (nodes > 8 && !loco::test::all_cases()) continue;
    config.nodes = nodes;
    loco::SimulatedCluster cluster(config);
    const workloads::Workload& workload = *workloads::find("barrier");
    const workloads::Params params(workload.params);
    REQUIRE(params.get("iterations") == 1000);
    const workloads::Results results = workloads::run(workload, params, cluster);
    const double simulated = static_cast<double>(results.last_end_ps - results.first_start_ps) / 1000;
    const double summed = static_cast<double>(loco::test::Stages{config.profile}.barrier(nodes).ps);
    INFO(nodes << " nodes: simulated " << simulated << " ps a round, stages " << summed << " ps");
    CHECK(summed == Approx(simulated).epsilon(0.05));
  }
}

TEST_CASE("barriers over messages take ceil(log2 n) rounds, each the sum of its stages to within 1 %", "[figures]") {
  enum : std::int64_t { kDissemination = 1, kRecursiveDoubling = 2 };
  const loco::test::Stages stages{loco::test::round_profile()};
  constexpr std::int64_t kReceivedNs = 100;
  constexpr std::int64_t kSentNs = 15;
  const auto mean_ps = [&](std::uint32_t nodes, std::int64_t algorithm) {
    loco::ClusterConfig config;
    config.profile = stages.p;
    config.nodes = nodes;
    loco::SimulatedCluster cluster(config);
    const workloads::Workload& workload = *workloads::find("barrier");
    workloads::Params params(workload.params);
    constexpr std::int64_t kIterations = 20;  // fewer sends than a port has buffers: no completions to be taken
    params.set("iterations", kIterations);
    params.set("algorithm", algorithm);
    params.set("library_ns", kReceivedNs);
    params.set("library_send_ns", kSentNs);
    // The first ones still have the differences with which the ranks began; later ones swing by parts of a poll.
    const auto samples = workloads::run(workload, params, cluster).find("barrier")->samples_ps;
    const auto later = std::span(samples).last(samples.size() / 2);
    return static_cast<double>(std::accumulate(later.begin(), later.end(), std::int64_t{0})) /
           static_cast<double>(later.size());
  };
  const auto round = static_cast<double>(stages.message_round(loco::sim::Duration{(kReceivedNs + kSentNs) * 1000}).ps);
  for (const std::uint32_t nodes : {2U, 3U, 4U, 5U, 8U, 13U, 16U, 32U}) {
    const auto rounds = static_cast<std::uint32_t>(std::bit_width(nodes - 1));  // of type int since C++23
    INFO(nodes << " nodes, " << rounds << " rounds of " << round << " ps");
    CHECK(mean_ps(nodes, kDissemination) == Approx(rounds * round).epsilon(0.01));
    // Otherwise some ranks are ahead of others by a part of a barrier: no sum of rounds.
    if (std::has_single_bit(nodes)) CHECK(mean_ps(nodes, kRecursiveDoubling) == Approx(rounds * round).epsilon(0.01));
  }
}

TEST_CASE("Open MPI's barrier is the one that it takes for so many ranks", "[figures]") {
  enum : std::int64_t { kDissemination = 1, kRecursiveDoubling, kLinear, kTree, kOpenMpi };
  const auto mean_ps = [](std::uint32_t nodes, std::int64_t threads, std::int64_t algorithm) {
    loco::ClusterConfig config;
    config.profile = loco::test::round_profile();
    config.nodes = nodes;
    loco::SimulatedCluster cluster(config);
    const workloads::Workload& workload = *workloads::find("barrier");
    workloads::Params params(workload.params);
    params.set("iterations", 5);
    params.set("threads_per_node", threads);
    params.set("algorithm", algorithm);
    const auto results = workloads::run(workload, params, cluster);
    return results.last_end_ps - results.first_start_ps;
  };
  struct Case {
    std::uint32_t nodes;
    std::int64_t threads;
    std::int64_t algorithm;
  };
  for (const Case& c : {Case{3, 1, kRecursiveDoubling}, Case{4, 1, kLinear}, Case{7, 1, kLinear},
                        Case{8, 1, kRecursiveDoubling}, Case{8, 8, kDissemination}, Case{16, 16, kTree}}) {
    INFO(c.nodes << " nodes, " << c.threads << " threads");
    const auto it = mean_ps(c.nodes, c.threads, kOpenMpi);
    CHECK(it == mean_ps(c.nodes, c.threads, c.algorithm));
    CHECK(it != mean_ps(c.nodes, c.threads, c.algorithm == kDissemination ? kRecursiveDoubling : kDissemination));
  }
  using enum loco::baselines::BarrierAlgorithm;
  CHECK(loco::baselines::open_mpi_barrier(255) == dissemination);
  CHECK(loco::baselines::open_mpi_barrier(511) == tree);
  CHECK(loco::baselines::open_mpi_barrier(512) == dissemination);
  CHECK(loco::baselines::open_mpi_barrier(1024) == tree);
  CHECK(loco::baselines::open_mpi_barrier(4096) == dissemination);
}
