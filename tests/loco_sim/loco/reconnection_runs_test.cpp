// Nodes that take each other back again and again, in runs drawn from seeds: on hardware with time, where cables go
// down and come up; on hardware as weak as the memory model, under random and adversarial schedules, where they do so
// for no reason, with operations on their way; on real threads.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test
using loco::manager;
using loco::NodeId;

namespace trace = loco::trace;

namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;  // ps

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t operator()(std::uint64_t low, std::uint64_t high) { return low + engine_() % (high - low + 1); }

 private:
  std::mt19937_64 engine_;
};

void require_right(const trace::Trace& trace, std::span<const trace::Library> libraries) {
  const loco::model::Verdict verdict = loco::model::check(trace, libraries, {});
  INFO(verdict.to_text());
  REQUIRE(verdict.consistent());
}

/// What came up in the runs of many seeds.
struct Noticed {
  std::uint64_t reconnections = 0, failed_operations = 0, failed_attempts = 0, late_puts = 0;
};

// --- with time -------------------------------------------------------------------------------------------------------

/// Rounds of the clock: in the first part of each, cables go down and come up, and all use a store; in the second one
/// they are up, and whoever has given up a node, or is asked by one, takes it back; then a new store is made.
constexpr std::int64_t kRound = 20'000 * kMicrosecond, kWork = 1'500 * kMicrosecond, kSettled = 3'000 * kMicrosecond;

struct TimedPlan {
  loco::ClusterConfig config;
  std::uint32_t rounds = 2;
  std::uint64_t keys = 4;
};

TimedPlan timed_plan_of(std::uint64_t seed) {
  Draw draw(seed);
  TimedPlan plan;
  plan.config.profile = impatient();
  if (draw(0, 1) == 0) plan.config.profile.pcie_ordering_domain = loco::nic::OrderingDomain::qp;
  plan.config.profile.nic_ack_timeout = loco::sim::Duration{static_cast<std::int64_t>(draw(10, 30)) * kMicrosecond};
  plan.config.profile.nic_retry_count = static_cast<std::uint32_t>(draw(1, 3));
  plan.config.nodes = static_cast<std::uint32_t>(draw(2, 4));
  plan.config.seed = seed;
  plan.config.record = true;
  plan.config.events_max = 20'000'000;
  plan.rounds = static_cast<std::uint32_t>(draw(2, 4));
  plan.keys = draw(2, 8);
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    const std::int64_t begin = round * kRound;
    const auto flap = [&](std::int64_t down, std::int64_t up) {
      const auto node = static_cast<NodeId>(draw(0, plan.config.nodes - 1));
      plan.config.network.changes.push_back({loco::sim::SimTime{begin + down * kMicrosecond}, node, false});
      plan.config.network.changes.push_back({loco::sim::SimTime{begin + up * kMicrosecond}, node, true});
    };
    const auto down = static_cast<std::int64_t>(draw(100, 500));
    flap(down, down + static_cast<std::int64_t>(draw(20, 400)));
    // While they take each other back, too: for less than requests are repeated, or for longer.
    const auto again = static_cast<std::int64_t>(draw(3'000, 3'300));
    if (draw(0, 2) == 0) flap(again, again + static_cast<std::int64_t>(draw(5, 300)));
  }
  return plan;
}

class TimedRounds {
 public:
  TimedRounds(const TimedPlan& plan, Noticed& seen) : plan_(plan), seen_(seen) {}

  void operator()(loco::Transport& node) {
    manager mgr(node);
    for (std::uint32_t round = 0; round < plan_.rounds; ++round) {
      {
        loco::kvstore store(mgr, "kv", {.slots_per_node = 32, .locks = 2, .ring_bytes = 128});
        loco::owned_var<std::uint64_t> motto(mgr, "motto", round % node.num_nodes());
        mgr.wait_for_ready();
        greet(mgr, motto, round);
        work(mgr, store, round);
        wait_until(node, round * kRound + kSettled);
      }
      take_back(mgr, round);
      for (NodeId peer = 0; peer < node.num_nodes(); ++peer) require(!mgr.failed(peer), "all are together again");
      require(!mgr.any_failed(), "and nobody is suspected");
      loco::global_fence(mgr);
      wait_until(node, (round + 1) * kRound);
    }
  }

 private:
  /// The cables are up when a round begins.
  static void greet(manager& mgr, loco::owned_var<std::uint64_t>& motto, std::uint32_t round) {
    if (mgr.my_node() == round % mgr.num_nodes()) {
      motto.store(round + 7);
      motto.push_broadcast();
    }
    while (motto.load() == 0) mgr.transport().pause();
    require(motto.load() == round + 7, "the motto of this round");
  }

  void work(manager& mgr, loco::kvstore& store, std::uint32_t round) {
    loco::Transport& node = mgr.transport();
    Draw draw(plan_.config.seed * 100 + round * 10 + node.my_node());
    for (std::uint64_t i = 1; node.now_ps() < round * kRound + kWork; ++i) {
      const std::uint64_t key = draw(0, plan_.keys - 1);
      const std::uint64_t value = (round * 10 + node.my_node() + 1) * 1000 + i;
      try {
        const std::uint64_t kind = draw(0, 7);
        if (kind < 3)
          static_cast<void>(store.lookup(key));
        else if (kind < 5)
          static_cast<void>(store.insert(key, value));
        else if (kind < 6)
          static_cast<void>(store.update(key, value));
        else
          static_cast<void>(store.erase(key));
      } catch (const loco::operation_error&) {
        ++seen_.failed_operations;
      }
      node.compute(static_cast<std::int64_t>(draw(5, 60)) * kMicrosecond);
    }
  }

  /// Each pair in the same order everywhere, until the round is nearly over.
  void take_back(manager& mgr, std::uint32_t round) {
    loco::Transport& node = mgr.transport();
    while (node.now_ps() < round * kRound + kRound / 2) {
      for (NodeId peer = 0; peer < node.num_nodes(); ++peer) {
        if (!mgr.failed(peer) && !mgr.asked_back(peer)) continue;
        try {
          mgr.reconnect(peer, 300 * kMicrosecond);
          ++seen_.reconnections;
        } catch (const loco::operation_error&) {
          ++seen_.failed_attempts;
        }
      }
      node.compute(20 * kMicrosecond);
    }
  }

  const TimedPlan& plan_;
  Noticed& seen_;
};

void run_with_time(std::uint64_t first, std::uint64_t last, Noticed& seen) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    TimedPlan plan = timed_plan_of(seed);
    std::ranges::stable_sort(plan.config.network.changes, {}, &loco::fabric::LinkChange::at);
    loco::SimulatedCluster cluster(plan.config);
    TimedRounds rounds(plan, seen);
    cluster.spawn_everywhere(std::ref(rounds));
    REQUIRE_NOTHROW(cluster.run());
    require_right(cluster.take_trace(), kAllWithStores);
  }
}

// --- without time ----------------------------------------------------------------------------------------------------

struct Pair {
  NodeId low = 0, high = 0;
};

/// What pairs of nodes do to each other after each round, in an order.
struct WeakPlan {
  std::uint32_t nodes = 2;
  std::vector<std::vector<Pair>> rounds;
  std::uint64_t late = 0;  ///< puts that are on their way then
};

WeakPlan weak_plan_of(std::uint64_t seed) {
  Draw draw(seed);
  WeakPlan plan{.nodes = static_cast<std::uint32_t>(draw(2, 3)), .rounds = {}, .late = draw(0, 3)};
  plan.rounds.resize(draw(2, 3));
  for (std::vector<Pair>& pairs : plan.rounds)
    for (NodeId low = 0; low < plan.nodes; ++low)
      for (NodeId high = low + 1; high < plan.nodes; ++high)
        if (draw(0, 2) != 0) pairs.push_back({low, high});
  return plan;
}

class WeakRounds {
 public:
  WeakRounds(const WeakPlan& plan, Noticed& seen) : plan_(plan), seen_(seen) {}

  void operator()(loco::Transport& node) {
    manager mgr(node);
    std::unique_ptr<loco::var<std::uint64_t>> late_before;
    std::optional<std::uint64_t> left;  // there when its last peer began anew
    for (std::uint32_t round = 0; round < plan_.rounds.size(); ++round) {
      loco::barrier bar(mgr, "bar");
      auto late = std::make_unique<loco::var<std::uint64_t>>(mgr, "late" + std::to_string(round));
      loco::mutex lock(mgr, "lock", round % node.num_nodes());
      loco::kvstore store(mgr, "kv", {.slots_per_node = 8, .locks = 1, .ring_bytes = 64});
      mgr.wait_for_ready();
      use(mgr, bar, lock, store, round);
      if (left) require(late_before->load() == *left, "nothing comes any more");
      left = part(mgr, *late, round);
      late_before = std::move(late);
    }
  }

 private:
  static void use(manager& mgr, loco::barrier& bar, loco::mutex& lock, loco::kvstore& store, std::uint32_t round) {
    const NodeId me = mgr.my_node();
    const NodeId next = (me + 1) % mgr.num_nodes();
    require(store.insert(me, round * 10 + me + 1), "the key is new");
    bar.waiting();
    require(store.lookup(next) == round * 10 + next + 1, "what the next node has inserted in this round");
    { const std::lock_guard held(lock); }
    try {
      bar.waiting();
    } catch (const loco::operation_error&) {  // one that has left it begins anew: all have come
    }
    fence_each(mgr);  // the barrier's own puts: the others leave it, too
  }

  /// Puts are on their way to nodes that begin anew: they are done before that, or not at all. What has come of them,
  /// if no others come.
  std::optional<std::uint64_t> part(manager& mgr, loco::var<std::uint64_t>& late, std::uint32_t round) {
    const NodeId me = mgr.my_node();
    std::uint32_t taken_back = 0;
    for (const auto& [low, high] : plan_.rounds[round]) {
      if (me != low && me != high) continue;
      const NodeId peer = me == low ? high : low;
      const loco::mem_ref value(mgr, 8 * (plan_.late + 1));
      for (std::uint64_t i = 0; i < plan_.late; ++i) {
        mgr.transport().store(value.address() + 8 * i, 100 + i);
        mgr.put(value.address() + 8 * i, late.copy(peer), 0, 8);
      }
      mgr.reconnect(peer);
      ++seen_.reconnections;
      ++taken_back;
    }
    const std::uint64_t then = late.load();
    if (then >= 100) ++seen_.late_puts;
    return taken_back + 1 == mgr.num_nodes() ? std::optional(then) : std::nullopt;
  }

  const WeakPlan& plan_;
  Noticed& seen_;
};

trace::Trace run_weak(std::uint64_t seed, bool connections_end, Noticed& seen) {
  const WeakPlan plan = weak_plan_of(seed);
  loco::ClusterConfig config;
  config.nodes = plan.nodes;
  config.schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
  config.seed = seed;
  config.record = true;
  config.events_max = 5'000'000;
  config.connections_end = connections_end;
  loco::SimulatedCluster cluster(config);
  WeakRounds rounds(plan, seen);
  cluster.spawn_everywhere(std::ref(rounds));
  cluster.run();
  return cluster.take_trace();
}

void run_without_time(std::uint64_t first, std::uint64_t last, Noticed& seen) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    trace::Trace trace;
    REQUIRE_NOTHROW(trace = run_weak(seed, true, seen));
    require_right(trace, kAllWithStores);
  }
}

}  // namespace

TEST_CASE("nodes whose cables flap take each other back, and stores made anew are linearisable") {
  Noticed seen;
  constexpr std::uint64_t kRuns = 40 / loco::test::kShare;
  run_with_time(1, kRuns, seen);
  CHECK(seen.reconnections > kRuns);
  CHECK(seen.failed_operations > kRuns / 4);
  CHECK(seen.failed_attempts > kRuns / 13);
}

TEST_CASE("nodes whose cables flap take each other back, in many runs", "[.long]") {
  Noticed seen;
  run_with_time(1001, 2000, seen);
  CHECK(seen.reconnections > 1000);
}

TEST_CASE("nodes begin anew with operations on their way, on hardware as weak as the model") {
  Noticed seen;
  run_without_time(1, 80, seen);
  CHECK(seen.reconnections > 40);
  CHECK(seen.late_puts > 0);
}

TEST_CASE("queue pairs that are left as they are when nodes begin anew are found out") {
  Noticed seen;
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= 300 && late == 0; ++seed) {
    try {
      run_weak(seed, false, seen);
    } catch (const std::exception& error) {
      if (std::string(error.what()).find("nothing comes any more") != std::string::npos) ++late;
    }
  }
  CHECK(late > 0);
}

TEST_CASE("nodes begin anew with operations on their way, in many runs", "[.long]") {
  Noticed seen;
  run_without_time(1001, 2000, seen);
  CHECK(seen.late_puts > 0);
}
