// Three nodes, of which node 2 stops: what the tests of failures share. The hardware repeats a request 3 times, 20 us
// apart; nodes ask each other every 100 us (ClusterConfig::keep_alive).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/stages.hpp"

namespace loco::test::failing {

inline constexpr loco::NodeId kDead = 2;
inline constexpr std::int64_t kStop = 200'000'000;              // ps
inline constexpr std::int64_t kAfter = 2 * kStop;               // when a survivor looks
inline constexpr std::int64_t kNoticed = (3 + 1) * 20'000'000;  // the first attempt and 3 repetitions
inline constexpr std::int64_t kRoundTrip = 10'000'000;          // more than any operation takes on this idle machine

inline loco::nic::HardwareProfile impatient() {
  loco::nic::HardwareProfile p = round_profile();
  p.nic_ack_timeout = loco::sim::Duration{20'000'000};
  p.nic_retry_count = 3;
  return p;
}

/// Node 2 of three stops, unless told otherwise; the trace of what happened.
inline loco::trace::Trace run(const loco::test::Program& program, std::uint32_t nodes = 3,
                              std::vector<loco::NodeStop> stops = {{kDead, {kStop}}}) {
  loco::ClusterConfig config;
  config.profile = impatient();
  config.nodes = nodes;
  config.record = true;
  config.stops = std::move(stops);
  config.events_max = 20'000'000;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();
  return cluster.take_trace();
}

inline void require_consistent(const loco::trace::Trace& trace, std::vector<loco::trace::Library> libraries) {
  const loco::model::Verdict verdict = loco::model::check(trace, libraries, {});
  INFO(verdict.to_text());
  CHECK(verdict.consistent());
}

/// The error that `f` ends with; fails the test when it does not.
template <typename F>
loco::operation_error error_of(const F& f) {
  try {
    f();
  } catch (const loco::operation_error& error) {
    return error;
  }
  throw std::logic_error("a call that needs the node that stopped has returned");
}

/// A barrier of the nodes that go on.
inline loco::barrier_options survivors() {
  return {.fence = loco::barrier_options::Fence::participants, .participants = {0, 1}};
}

inline void wait_until(loco::Transport& node, std::int64_t ps) {
  if (node.now_ps() < ps) node.compute(ps - node.now_ps());
}

/// What the caller has put is in memory, but on nodes that do not answer it any more, as those that begin anew: that of
/// one says nothing of the others.
inline void fence_each(loco::manager& mgr) {
  for (loco::NodeId node = 0; node < mgr.num_nodes(); ++node) {
    try {
      loco::global_fence(mgr, node);
    } catch (const loco::operation_error&) {
    }
  }
}

/// On the node that stops: it would end much later.
inline void live(loco::Transport& node) { wait_until(node, 100 * kStop); }

}  // namespace loco::test::failing
