// The simulated cluster: failures come out with their place, whatever the other threads are doing.
#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::Transport;
using loco::test::config;
using loco::test::contains_text;

TEST_CASE("an exception of a program comes out with its node and thread, the original nested") {
  bool unwound = false;
  struct Guard {
    bool* flag;
    ~Guard() {
      if (flag != nullptr) *flag = true;
    }
  };
  {
    SimulatedCluster cluster(config(2));
    cluster.spawn_everywhere([&](Transport& node) {
      const Guard guard{node.my_node() == 0 ? &unwound : nullptr};
      loco::manager mgr(node);
      loco::owned_var<int> v(mgr, "v", 0);
      mgr.wait_for_ready();
      while (node.my_node() == 0 && v.load() == 0) node.pause();  // never anything else
      node.compute(1000);
      v.store(1);
    });
    try {
      cluster.run();
      FAIL("no exception");
    } catch (const loco::ProgramError& error) {
      CHECK(error.node() == 1);
      CHECK(error.thread() == "main");
      CHECK_THAT(error.what(), contains_text("node 1, thread main: variable 'v' is owned by node 0"));
      CHECK_THROWS_AS(std::rethrow_if_nested(error), loco::ownership_error);
    }
    CHECK(!unwound);
  }
  CHECK(unwound);  // programs that have not ended are unwound with their cluster
}

TEST_CASE("programs of several nodes that fail at once are one error, and end") {
  // While the first one's error comes out, the others' stacks are half unwound: their managers are telling their
  // polling threads to stop.
  loco::ClusterConfig config;
  config.nodes = 4;
  config.profile = loco::test::round_profile();
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::owned_var<int> v(mgr, "v", 0);
    mgr.wait_for_ready();
    if (node.my_node() != 0) v.store(1);
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("variable 'v' is owned by node 0: node "));
}

TEST_CASE("who waits for a peer that never comes is told which channel and which nodes") {
  SimulatedCluster cluster(config(3));
  cluster.spawn_everywhere([](Transport& node) {
    loco::manager mgr(node);
    if (node.my_node() == 2) return mgr.wait_for_ready();
    loco::var<int> v(mgr, "lonely");
    mgr.wait_for_ready();
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("node 0, thread main: outside of library calls; waits until 'lonely' "
                                                 "has 2 peer(s); not joined by node(s) 2\n"));
}

TEST_CASE("a deadlock says which completion queue has overflowed") {
  ClusterConfig small = config(2);
  small.completion_entries = 1;
  SimulatedCluster cluster(small);
  const loco::Region here = cluster.node(0).allocate(8), there = cluster.node(1).allocate(8);
  cluster.spawn(0, "main", [&](Transport& node) {
    for (std::uint64_t i = 1; i <= 3; ++i) node.put(here.base, there, 0, 8, {.token = i, .work_id = i});
    node.compute(100'000'000);  // all three complete before the first poll
    std::array<loco::Completion, 4> done;
    for (std::size_t polled = 0; polled < 3;) {
      const std::size_t n = node.poll(done);
      if (n == 0) node.pause();
      polled += n;
    }
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("node 0: its completion queue of 1 entries has overflowed"));
}

TEST_CASE("of many nodes that never came the first ten are listed") {
  SimulatedCluster cluster(config(40));
  cluster.spawn(0, "main", [](Transport& node) {
    loco::manager mgr(node);
    loco::var<int> v(mgr, "lonely");
    mgr.wait_for_ready();
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("not joined by node(s) 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 29 more"));
}

TEST_CASE("a run that is stopped anywhere in its set-up says what threads wait for, though others have joined by now") {
  bool joined = false;
  for (std::uint64_t events = 1; events <= 200; ++events) {
    INFO("events: " << events);
    ClusterConfig limited = config(2);
    limited.events_max = events;
    SimulatedCluster cluster(limited);
    cluster.spawn_everywhere([](Transport& node) {
      loco::manager mgr(node);
      loco::var<int> first(mgr, "a");
      loco::var<int> second(mgr, "b");
      mgr.wait_for_ready();
    });
    try {
      cluster.run();
      break;
    } catch (const loco::EventLimit& error) {
      const std::string text = error.what();
      CHECK(text.find("node(s) \n") == std::string::npos);
      CHECK(!text.ends_with("node(s) "));
      joined = joined || text.find("waits until it has seen that all have joined") != std::string::npos;
    }
  }
  CHECK(joined);
}

TEST_CASE("a deadlock is reported with what each thread waits for") {
  SimulatedCluster cluster(config(2));
  cluster.spawn_everywhere([](Transport& node) {
    loco::manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) bar.waiting();
  });
  try {
    cluster.run();
    FAIL("no exception");
  } catch (const loco::Deadlock& error) {
    CHECK_THAT(error.what(), contains_text("1 thread(s) have not ended"));
    CHECK_THAT(error.what(), contains_text("node 0, thread main: in bal.barrier(bar); waits for a change of word"));
  }
}

TEST_CASE("a deadlock names the ring buffer that a thread receives from") {
  SimulatedCluster cluster(config(2));
  cluster.spawn_everywhere([](Transport& node) {
    loco::manager mgr(node);
    loco::ring_buffer ring(mgr, "news", 0);
    mgr.wait_for_ready();
    if (node.my_node() == 1) (void)ring.receive();
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("node 1, thread main: outside of library calls; waits until 'news' "));
}

TEST_CASE("an error is told also where what it destroys waits for the others for ever") {
  struct Waits {
    Transport& node;
    explicit Waits(Transport& n) : node(n) {}
    ~Waits() {
      try {
        while (true) node.pause();
      } catch (...) {  // NOLINT(bugprone-empty-catch): the cluster ends
      }
    }
  };
  SimulatedCluster cluster(config(2));
  cluster.spawn_everywhere([](Transport& node) {
    const Waits waits(node);
    throw std::bad_alloc();
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("thread main: out of memory"));
}

TEST_CASE("what a program throws because a deadlock has ended it is not told in the deadlock's place") {
  SimulatedCluster cluster(config(1));
  cluster.spawn_everywhere([](Transport& node) {
    try {
      while (true) node.pause();
    } catch (...) {  // NOLINT(bugprone-empty-catch): as a destructor that waits does
    }
    throw std::logic_error("the wait has not done its work");
  });
  CHECK_THROWS_AS(cluster.run(), loco::Deadlock);
}

TEST_CASE("a run that goes on for ever is stopped") {
  const auto restless = [](Transport& node) {
    while (true) node.compute(1000);
  };
  SECTION("by the limit on events") {
    ClusterConfig c = config(1);
    c.events_max = 10'000;
    SimulatedCluster cluster(c);
    cluster.spawn_everywhere(restless);
    CHECK_THROWS_WITH(cluster.run(), contains_text("has not ended") &&
                                         contains_text("thread main: outside of library calls; has looked at nothing"));
    CHECK(cluster.system().counters().events <= 10'001);
  }
  SECTION("from outside") {
    ClusterConfig c = config(1);
    int asked = 0;
    loco::sim::Budget budget({.interrupted = [&asked] { return ++asked == 3; }});
    c.budget = &budget;
    SimulatedCluster cluster(c);
    cluster.spawn_everywhere(restless);
    CHECK_THROWS_AS(cluster.run(), loco::sim::Interrupted);
  }
}

TEST_CASE("a transport outside of a run is refused") {
  SimulatedCluster cluster(config(2));
  CHECK_THROWS_AS(cluster.node(0).load(64), std::logic_error);
}

TEST_CASE("what the threads of a team share is there until the last of them has gone") {
  struct Shared {
    Transport& node;
    bool& gone;
    ~Shared() {
      gone = true;
      try {
        node.compute(1000);  // lets others run, as destructors of channels do
      } catch (...) {
      }
    }
  };
  struct User {
    const bool& gone;
    bool& late;
    ~User() { late = late || gone; }
  };
  for (const Schedule schedule : {Schedule::timed, Schedule::random, Schedule::adversarial}) {
    bool gone = false;
    bool late = false;
    {
      SimulatedCluster cluster(config(1, schedule, 3));
      cluster.spawn_everywhere([&](Transport& node) {
        const Shared shared{node, gone};
        loco::workloads::run_team(node, 3, [&](std::uint32_t thread) {
          const User user{gone, late};
          if (thread == 0) throw std::runtime_error("no more");
          while (true) {
            late = late || gone;
            node.compute(100);
          }
        });
      });
      CHECK_THROWS_WITH(cluster.run(), contains_text("no more"));
      CHECK(!gone);
    }
    CHECK(gone);
    CHECK(!late);
  }
}

TEST_CASE("a program that ends with an error while another thread lets go of a lock ends with that error") {
  // At each instant of taking and releasing it: what cancels a thread may not leave the destructor of a guard.
  for (std::int64_t ns = 0; ns < 20'000; ns += 100) {
    SimulatedCluster cluster(config(2));
    cluster.spawn_everywhere([ns](Transport& node) {
      loco::manager mgr(node);
      loco::mutex lock(mgr, "lock");
      loco::var<std::uint64_t> v(mgr, "v");
      mgr.wait_for_ready();
      if (node.my_node() == 0) return;
      loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
        if (thread == 1) {
          node.compute(ns * 1000);
          throw std::runtime_error("no more");
        }
        while (true) {
          const std::lock_guard guard(lock);
          v.store(1);
          v.push(1);  // through the NIC, to itself: the release waits for it
        }
      });
    });
    CHECK_THROWS_WITH(cluster.run(), contains_text("no more"));
  }
}

TEST_CASE("an operation on more bytes than a message has fails, also where its size does not fit a work request") {
  // InfiniBand: a message has zero to 2^31 bytes.
  for (const std::uint64_t size : {(std::uint64_t{1} << 31U) + 8, (std::uint64_t{1} << 32U) + 64}) {
    INFO(size);
    for (const auto operation : {&Transport::put, &Transport::get}) {
      loco::Completion completion;
      SimulatedCluster cluster(config(2));
      loco::Region there;
      cluster.spawn(1, "main", [&](Transport& node) { there = node.allocate(size); });
      cluster.spawn(0, "main", [&](Transport& node) {
        const loco::Region here = node.allocate(size);
        node.compute(1'000'000);
        (node.*operation)(here.base, there, 0, size, {.token = 7, .work_id = 0});
        while (node.poll(std::span(&completion, 1)) == 0) node.pause();
      });
      cluster.run();
      CHECK(completion.token == 7);
      CHECK(completion.status == loco::Status::loc_len_err);
    }
  }
}

TEST_CASE("a completion queue that overflows ends a run in which cables are to fail as any other") {
  for (const bool planned : {false, true}) {
    ClusterConfig c = config(2);
    c.completion_entries = 1;
    c.profile.cpu_poll_cqe = {10'000'000};  // the polling thread is slow
    c.events_max = 3'000'000;
    if (planned)
      c.network.changes = {{loco::sim::SimTime{1'000'000'000}, 0, false}, {loco::sim::SimTime{2'000'000'000}, 0, true}};
    SimulatedCluster cluster(c);
    cluster.spawn_everywhere([](Transport& node) {
      loco::manager mgr(node);
      loco::var<std::uint64_t> v(mgr, "v");
      mgr.wait_for_ready();
      loco::ack_key key(mgr);
      for (int i = 0; i < 50; ++i) v.push_broadcast(key);
      key.wait();
    });
    INFO("failures planned: " << planned);
    CHECK_THROWS_WITH(cluster.run(), contains_text("its completion queue of 1 entries has overflowed"));
  }
}
