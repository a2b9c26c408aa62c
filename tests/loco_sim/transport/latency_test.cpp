// Latencies of single operations and of barriers as sums of their stages (stages.hpp, docs/barrier-latency.md).
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::SimulatedCluster;
using loco::Transport;
using loco::test::Stages;

namespace {

loco::ClusterConfig round_machine(std::uint32_t nodes) {
  loco::ClusterConfig c;
  c.nodes = nodes;
  c.profile = loco::test::round_profile();
  return c;
}

/// Tells when CQEs and remote writes take effect.
class Instants final : public loco::nic::Observer {
 public:
  void on_cqe(loco::nic::NodeId, loco::nic::CqId, const loco::nic::Cqe&, loco::sim::SimTime at) override {
    completed = at;
  }
  loco::sim::SimTime completed;
};

/// One operation of an otherwise idle cluster of two: when its doorbell was rung and when its bit was cleared.
struct Single {
  std::int64_t posted = 0;
  std::int64_t acknowledged = 0;
  std::int64_t committed = 0;  ///< puts: when the peer, which spins on it, saw it
};

Single run_single(bool put) {
  SimulatedCluster cluster(round_machine(2));
  Single times;
  cluster.spawn_everywhere([&](Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() == 1) {
      if (put) {
        while (v.load() == 0) node.pause();
        times.committed = node.now_ps();
      }
      return;
    }
    v.store(1);
    node.compute(10'000'000);  // everything else is over by then
    loco::ack_key key(mgr);
    if (put)
      v.push(1, key);
    else
      v.pull(1, key);
    times.posted = node.now_ps() - cluster.config().profile.cpu_doorbell.ps;
    while (!key.poll()) node.pause();
    times.acknowledged = node.now_ps();
  });
  cluster.run();
  return times;
}

}  // namespace

TEST_CASE("an unloaded put and get take the sum of their stages") {
  const Stages stages{loco::test::round_profile()};
  const auto& p = stages.p;
  // What polling adds: the poller is somewhere in its turn when the CQE comes (stages.acknowledged() says half a
  // turn: up to half a turn more or less); then the waiting thread is in its own turn of one look, and looks twice more
  // (complete, status).
  const std::int64_t slack = (p.cpu_poll_empty + p.cpu_load).ps / 2 + 1 + p.cpu_load.ps * 4;

  const Single put = run_single(true);
  CHECK(std::abs(put.committed - put.posted - stages.put_committed().ps) <= 2 * p.cpu_load.ps);
  CHECK(std::abs(put.acknowledged - put.posted - (stages.put_completed() + stages.acknowledged()).ps) <= slack);

  const Single get = run_single(false);
  CHECK(std::abs(get.acknowledged - get.posted - (stages.get_completed() + stages.acknowledged()).ps) <= slack);
}

TEST_CASE("a barrier's time a round is the sum of its stages to within 5 %", "[figures]") {
  constexpr std::int64_t kRounds = 1000;
  for (const std::uint32_t nodes : {2U, 4U, 8U, 16U}) {
    if (nodes > 8 && !loco::test::all_cases()) continue;
    SimulatedCluster cluster(round_machine(nodes));
    std::int64_t start = 0;
    std::int64_t end = 0;
    cluster.spawn_everywhere([&](Transport& node) {
      loco::manager mgr(node);
      loco::barrier bar(mgr, "bar");
      mgr.wait_for_ready();
      bar.waiting();
      if (node.my_node() == 0) start = node.now_ps();
      for (std::int64_t i = 0; i < kRounds; ++i) bar.waiting();
      if (node.my_node() == 0) end = node.now_ps();
    });
    cluster.run();
    const double simulated = static_cast<double>(end - start) / static_cast<double>(kRounds);
    const double summed = static_cast<double>(Stages{cluster.config().profile}.barrier(nodes).ps);
    INFO(nodes << " nodes: simulated " << simulated << " ps, summed " << summed << " ps");
    CHECK(summed == Approx(simulated).epsilon(0.05));
  }
}
