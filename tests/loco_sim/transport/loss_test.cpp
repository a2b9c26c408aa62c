// LOCO on networks that lose packets: nothing is lost to programs, traces stay consistent, and a peer that cannot be
// reached is an error with verbs' name for it.
#include <array>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::ClusterConfig;
using loco::SimulatedCluster;
using loco::Transport;
using loco::test::contains_text;

namespace {

ClusterConfig lossy(std::uint64_t seed) {
  ClusterConfig c;
  c.nodes = 3;
  c.profile = loco::test::round_profile();
  c.profile.nic_ack_timeout = loco::nic::timeout_of_code(4);  // 65 us
  c.network.options.loss = 30'000;                            // 3 % on each link
  c.network.seed = seed;
  c.record = true;
  return c;
}

/// Broadcasts of one node with barriers in between.
void broadcasts(Transport& node) {
  loco::manager mgr(node);
  loco::owned_var<std::uint64_t> v(mgr, "v", 0);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    if (mgr.my_node() == 0) {
      v.store(i);
      v.push_broadcast();
    }
    bar.waiting();
    if (v.load() != i) throw std::logic_error("stale");
    bar.waiting();
  }
}

/// Node 0 broadcasts and waits; the others only listen.
void awaited_broadcasts(Transport& node) {
  loco::manager mgr(node);
  loco::owned_var<std::uint64_t> v(mgr, "v", 0);
  mgr.wait_for_ready();
  for (std::uint64_t i = 1; i <= 100 && mgr.my_node() == 0; ++i) {
    v.store(i);
    loco::ack_key key(mgr);
    v.push_broadcast(key);
    key.wait();
  }
}

}  // namespace

TEST_CASE("programs do not notice lost packets, and their traces are consistent") {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    SimulatedCluster cluster(lossy(seed));
    cluster.spawn_everywhere(broadcasts);
    cluster.run();
    lost += cluster.system().counters().packets_lost;
    const loco::trace::Trace trace = cluster.take_trace();
    using loco::trace::Library;
    const std::array libraries = {Library::rdmawait, Library::sv, Library::bal};
    CHECK(loco::model::check(trace, libraries).consistent());
  }
  CHECK(lost > 20);
}

TEST_CASE("a peer behind a broken link is an error of the operation, by its verbs name") {
  ClusterConfig c = lossy(1);
  c.network.options.loss = 0;
  c.network.changes = {{loco::sim::SimTime{20'000'000}, 1, false}};  // node 1's cable, for good
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere(awaited_broadcasts);
  std::string what;
  try {
    cluster.run();
  } catch (const loco::ProgramError& error) {
    what = error.what();
  }
  CHECK_THAT(what, contains_text("transport retry counter exceeded"));
}

TEST_CASE("a connection that loss alone breaks is heard of by everybody, with nothing planned to fail") {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    ClusterConfig c = lossy(seed);
    c.record = false;
    c.seed = seed;
    c.profile.nic_ack_timeout = {20'000'000};
    c.profile.nic_retry_count = 1;
    c.network.options.loss = 10'000;
    c.events_max = 20'000'000;
    SimulatedCluster cluster(c);
    cluster.spawn_everywhere([&](Transport& node) {
      loco::manager mgr(node);
      loco::mutex lock(mgr, "m");
      loco::barrier bar(mgr, "b", {.fence = loco::barrier_options::Fence::participants});
      mgr.wait_for_ready();
      try {
        for (int i = 0; i < 100; ++i) {
          lock.lock();
          lock.unlock();
          if (i % 10 == 9) bar.waiting();
        }
      } catch (const loco::operation_error&) {
        ++broken;
      }
      constexpr std::int64_t kLong = 50'000'000'000;  // the others learn of it while this node is there
      if (node.now_ps() < kLong) node.compute(kLong - node.now_ps());
    });
    INFO("seed " << seed);
    cluster.run();  // no deadlock, and an end
  }
  CHECK(broken > 0);
}

TEST_CASE("under random and adversarial schedules timers say what is lost, not what is late") {
  const auto ends = [](const auto& change) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      ClusterConfig c = lossy(seed);
      c.seed = seed;
      c.schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
      c.events_max = 20'000'000;
      change(c);
      INFO("seed " << seed);
      SimulatedCluster cluster(c);
      cluster.spawn_everywhere(broadcasts);
      cluster.run();  // else "does not answer"
      CHECK(loco::model::check(cluster.take_trace(), std::array{loco::trace::Library::rdmawait}).consistent());
    }
  };
  ends([](ClusterConfig&) {});
  ends([](ClusterConfig& c) {
    c.network.options.loss = 0;
    c.network.options.flow_control = loco::fabric::FlowControl::drop_tail;
  });
  ends([](ClusterConfig& c) {
    c.network.options.loss = 0;
    c.network.options.routing = loco::fabric::Routing::spray;
  });
}
