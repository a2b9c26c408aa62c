// The simulated cluster: programs run to their end, runs are reproducible.
#include "loco_sim/transport/cluster.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"
#include "trace/file.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::Transport;
using loco::test::config;

namespace {

/// Broadcasts and barriers of three nodes, two threads each.
void busy_program(Transport& node) {
  loco::manager mgr(node);
  loco::owned_var<std::uint64_t> v(mgr, "v", 0);
  loco::barrier_options options;
  options.threads_per_node = 2;
  loco::barrier bar(mgr, "bar", options);
  mgr.wait_for_ready();
  const loco::Flag ended = node.make_flag();
  node.spawn("second", [&] {
    for (int i = 0; i < 3; ++i) bar.waiting();
    node.flag_fetch_add(ended, 1);
  });
  for (std::uint64_t i = 1; i <= 3; ++i) {
    if (mgr.my_node() == 0) {
      v.store(i);
      v.push_broadcast();
    }
    bar.waiting();
    if (v.load() < i) throw std::logic_error("stale");
  }
  while (node.flag_load(ended) == 0) node.pause();
}

std::string trace_of(ClusterConfig c) {
  c.record = true;
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere(busy_program);
  cluster.run();
  return loco::trace::encode_trace(cluster.take_trace());
}

}  // namespace

TEST_CASE("a run is a function of configuration and seed") {
  for (const Schedule schedule : {Schedule::timed, Schedule::random, Schedule::adversarial}) {
    const std::string first = trace_of(config(3, schedule, 7));
    CHECK(first == trace_of(config(3, schedule, 7)));
    // The seed is in the trace; the rest of a timed run does not depend on it.
    if (schedule != Schedule::timed) CHECK(first.size() != trace_of(config(3, schedule, 8)).size());
  }
}

TEST_CASE("recording does not change a run") {
  for (const Schedule schedule : {Schedule::timed, Schedule::random}) {
    ClusterConfig c = config(3, schedule);
    SimulatedCluster plain(c);
    plain.spawn_everywhere(busy_program);
    plain.run();
    c.record = true;
    SimulatedCluster recorded(c);
    recorded.spawn_everywhere(busy_program);
    recorded.run();
    CHECK(plain.ended() == recorded.ended());
    CHECK(plain.system().counters() == recorded.system().counters());
    CHECK(plain.take_trace().subevents.empty());
    CHECK(!recorded.take_trace().subevents.empty());
  }
}

TEST_CASE("a trace is taken once: what follows is not recorded") {
  ClusterConfig c = config(3);
  c.record = true;
  c.events_max = 500;  // of some thousands: the run is left in the middle of calls
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere(busy_program);
  CHECK_THROWS_AS(cluster.run(), loco::EventLimit);
  const loco::trace::Trace first = cluster.take_trace();
  CHECK(!first.subevents.empty());
  const auto runs_out = [&] {
    try {
      cluster.run();
      return false;
    } catch (const loco::EventLimit&) {
      return true;
    }
  };
  int runs = 1;
  while (runs_out() && runs < 100) ++runs;
  CHECK(runs > 1);
  CHECK(cluster.unfinished() == 0);

  const loco::trace::Trace second = cluster.take_trace();
  CHECK(second.nodes == 0);
  CHECK(second.threads.empty());
  CHECK(second.calls.empty());
  CHECK(loco::model::check(second, std::array{loco::trace::Library::rdmawait}).consistent());
}

TEST_CASE("an operation on no bytes completes, and is no call of the trace: it touches no location") {
  ClusterConfig c = config(2);
  c.record = true;
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere([](Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    loco::ack_key key(mgr);
    if (mgr.my_node() == 0) {
      mgr.put(v.address(), v.copy(1), 0, 0, &key);
      mgr.get(v.address(), v.copy(1), 0, 0, &key);
    }
    key.wait();
  });
  cluster.run();
  const loco::trace::Trace trace = cluster.take_trace();
  using enum loco::trace::Method;
  CHECK(std::ranges::count(trace.calls, wait, &loco::trace::Call::method) == 2);
  CHECK(std::ranges::none_of(trace.calls, [](const auto& call) { return call.method == put || call.method == get; }));
  CHECK(loco::model::check(trace, std::array{loco::trace::Library::rdmawait}).consistent());
}

TEST_CASE("a program cannot take the trace that it is in") {
  ClusterConfig c = config(1);
  c.record = true;
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere([&](Transport&) { CHECK_THROWS_AS(cluster.take_trace(), std::logic_error); });
  cluster.run();
  CHECK(!cluster.take_trace().threads.empty());
}

TEST_CASE("waiting costs no events, and wakes within one turn of the polling loop") {
  ClusterConfig c = config(1);
  SimulatedCluster cluster(c);
  loco::Flag flag = 0;
  std::int64_t set_at = 0;
  std::int64_t seen_at = 0;
  constexpr std::int64_t kLong = 1'000'000'000'000;  // a second
  cluster.spawn(0, "setter", [&](Transport& node) {
    flag = node.make_flag();
    node.compute(kLong);
    set_at = node.now_ps();
    node.flag_fetch_or(flag, 1);
  });
  cluster.spawn(0, "waiter", [&](Transport& node) {
    node.compute(1000);
    while (node.flag_load(flag) == 0) node.pause();
    seen_at = node.now_ps();
  });
  cluster.run();
  CHECK(set_at >= kLong);
  CHECK(seen_at >= set_at);
  // One turn is one look (cpu.load); the look that sees the change takes as long again.
  CHECK(seen_at - set_at <= 2 * c.profile.cpu_load.ps);
  CHECK(cluster.system().counters().events < 20);
}

TEST_CASE("what a thread changes itself after it has looked at it ends its pause, too") {
  for (const loco::Schedule schedule : {loco::Schedule::timed, loco::Schedule::random, loco::Schedule::adversarial}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      ClusterConfig c = config(1);
      c.schedule = schedule;
      c.seed = seed;
      SimulatedCluster cluster(c);
      int turns = 0;
      cluster.spawn(0, "main", [&](Transport& node) {
        const loco::Region word = node.allocate(16);
        const loco::Flag flag = node.make_flag();
        for (; node.load(word.base) == 0; ++turns) {
          node.store(word.base, 1);
          node.pause();
        }
        for (; node.flag_load(flag) == 0; ++turns) {
          node.flag_fetch_or(flag, 1);
          node.pause();
        }
        for (; node.load(word.base + 8) == 0; ++turns) {
          node.memory_fence();
          static_cast<void>(node.compare_swap_local(word.base + 8, 0, 1));
          node.pause();
        }
      });
      cluster.run();
      CHECK(turns == 3);
    }
  }
}

TEST_CASE("a thread on a node that does not exist is refused") {
  SimulatedCluster cluster(config(2));
  CHECK_THROWS_WITH(cluster.spawn(5, "x", [](Transport&) {}), contains_text("thread 'x' on node 5 of 2"));
}

TEST_CASE("a service thread does not keep the run alive") {
  SimulatedCluster cluster(config(1));
  bool ended = false;
  cluster.spawn_everywhere([&](Transport& node) {
    const loco::Flag never = node.make_flag();
    node.spawn(
        "service",
        [&node, &ended, never] {
          while (node.flag_load(never) == 0) node.pause();
          ended = true;
        },
        true);
    node.compute(5000);
  });
  cluster.run();
  CHECK(!ended);
  CHECK(cluster.ended().ps == 5000);
}

TEST_CASE("a computation takes no time or more") {
  SimulatedCluster cluster(config(1));
  cluster.spawn_everywhere([](Transport& node) {
    node.compute(0);
    CHECK_THROWS_WITH(node.compute(-1), "compute: expected at least 0 ps, found -1 ps");
    CHECK(node.now_ps() == 0);
  });
  cluster.run();
}

TEST_CASE("waits in proportion to measured times do not outgrow each other where times mean nothing") {
  // Two nodes that each wait for twice as long as the other's wait seems to take: 2^100 ps otherwise.
  for (const Schedule schedule : {Schedule::random, Schedule::adversarial}) {
    SimulatedCluster cluster(config(2, schedule, 5));
    cluster.spawn_everywhere([](Transport& node) {
      std::int64_t wait = 1000;
      for (int i = 0; i < 100; ++i) {
        const std::int64_t before = node.now_ps();
        node.compute(wait);
        wait = 2 * (node.now_ps() - before);
      }
    });
    cluster.run();
    CHECK(cluster.ended().ps <= 200 * std::int64_t{1'000'000'000});
  }
}

TEST_CASE("each thread has a queue pair of its own for each peer, made when it is used, and both ends use it") {
  const auto queue_pairs = [](std::uint32_t threads, bool everyone) {
    SimulatedCluster cluster(config(3));
    cluster.spawn_everywhere([=](Transport& node) {
      loco::manager mgr(node);
      loco::var<std::uint64_t> v(mgr, "v");
      mgr.wait_for_ready();
      if (!everyone && node.my_node() != 0) return;
      loco::workloads::run_team(node, threads, [&](std::uint32_t) {
        for (int i = 0; i < 3; ++i) {
          loco::ack_key key(mgr);
          v.push_broadcast(key);
          key.wait();
        }
      });
    });
    cluster.run();
    return cluster.system().create_qp(0, cluster.system().create_cq(0, 1), 1);  // they are numbered from 0
  };
  CHECK(queue_pairs(1, false) == 2 * 2);  // two peers, two ends
  CHECK(queue_pairs(3, false) == 3 * 2 * 2);
  CHECK(queue_pairs(1, true) == 3 * 2);  // three pairs of nodes, two ends
  CHECK(queue_pairs(3, true) == 3 * 3 * 2);
}

TEST_CASE("posting more than the send queue holds waits for room") {
  for (const Schedule schedule : {Schedule::timed, Schedule::random, Schedule::adversarial}) {
    ClusterConfig c = config(2, schedule, 3);
    c.send_queue_entries = 4;
    SimulatedCluster cluster(c);
    std::uint64_t last = 0;
    cluster.spawn_everywhere([&](Transport& node) {
      loco::manager mgr(node);
      loco::owned_var<std::uint64_t> v(mgr, "v", 0);
      mgr.wait_for_ready();
      if (node.my_node() == 0) {
        for (std::uint64_t i = 1; i <= 100; ++i) {
          v.store(i);
          v.push_broadcast();
        }
        return;
      }
      while (v.load() < 100) node.pause();
      last = v.load();
    });
    cluster.run();
    CHECK(last == 100);
    CHECK(cluster.system().counters().work_requests == 100);
  }
}

TEST_CASE("a wrong key surfaces as the remote access error, later operations as flushed") {
  // InfiniBand specification, volume 1, 9.7.4.1 and 10.8.3: the queue pair goes to error, what follows is flushed.
  SimulatedCluster cluster(config(2));
  loco::Status first = loco::Status::success;
  loco::Status second = loco::Status::success;
  cluster.spawn_everywhere([&](Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() == 1) return;
    loco::ack_key bad(mgr);
    loco::ack_key after(mgr);
    loco::Region wrong = v.copy(1);
    wrong.rkey += 1;
    mgr.put(v.address(), wrong, 0, 8, &bad);
    v.push(1, after);
    while (bad.status() == loco::Status::success) node.pause();
    first = bad.status();
    try {
      after.wait();
    } catch (const loco::operation_error& error) {
      second = error.status();
    }
  });
  cluster.run();
  CHECK(first == loco::Status::rem_access_err);
  CHECK(second == loco::Status::wr_flush_err);
}

TEST_CASE("a global fence covers loopback operations") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedCluster cluster(config(1, Schedule::random, seed));
    std::uint64_t seen = 0;
    cluster.spawn_everywhere([&](Transport& node) {
      loco::manager mgr(node);
      loco::var<std::uint64_t> from(mgr, "from");
      loco::var<std::uint64_t> to(mgr, "to");
      mgr.wait_for_ready();
      from.store(5);
      mgr.put(from.address(), to.copy(0), 0, 8);
      loco::global_fence(mgr);
      seen = to.load();
    });
    cluster.run();
    CHECK(seen == 5);
  }
}
