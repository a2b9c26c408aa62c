// The barrier workload on the shipped profile: its time a round is the sum of its stages (docs/barrier-latency.md).
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

namespace workloads = loco::workloads;

TEST_CASE("1,000 barriers of 8 nodes on cx5-roce-25g take the sum of their stages to within 5 %") {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  for (const std::uint32_t nodes : {2U, 3U, 4U, 8U, 16U}) {
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
