// Mutexes (LOCO paper, Section 6.2): one holder at a time, first come first served, and who comes next sees what the
// last one wrote.
#include "loco_sim/loco/locks/mutex.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

/// Every thread adds 1 to a counter on the last node, again and again, by reading and writing it under the lock, whose
/// home is node 0, or that node too.
struct Counting {
  std::uint64_t rounds = 3;
  std::uint32_t threads = 1;
  loco::mutex_options options = {};
  bool beside_the_lock = false;

  void operator()(loco::Transport& node) const {
    loco::manager mgr(node);
    const loco::NodeId home = node.num_nodes() - 1;
    loco::mutex lock(mgr, "lock", beside_the_lock ? home : 0, options);
    loco::var<std::uint64_t> counter(mgr, "counter");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    loco::workloads::run_team(node, threads, [&](std::uint32_t) {
      loco::mem_ref value(mgr, 8);
      loco::ack_key key(mgr);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::lock_guard guard(lock);
        mgr.get(value.address(), counter.copy(home), 0, 8, &key);
        key.wait();
        value.store(value.load() + 1);
        mgr.put(value.address(), counter.copy(home), 0, 8, &key);
        key.wait();
      }
    });
    bar.waiting();
    if (node.my_node() != home) return;
    // Letting go does not fence the home of the lock: what was put there is there for the next holder.
    std::unique_lock guard(lock, std::defer_lock);
    if (beside_the_lock) guard.lock();
    require(counter.load() == node.num_nodes() * threads * rounds, "no increment is lost");
  }
};

}  // namespace

TEST_CASE("a counter under a mutex is exact, on threads") {
  on_threads(1, Counting{.rounds = 50, .threads = 4});
  on_threads(3, Counting{.rounds = 200});
  on_threads(3, Counting{.rounds = 50, .threads = 3});
}

TEST_CASE("a counter under a mutex is exact, under any schedule") {
  on_many_schedules(2, Counting{}, 80);
  on_many_schedules(4, Counting{.rounds = 2}, 40);
  on_many_schedules(2, Counting{.rounds = 2, .threads = 3}, 80);
  on_many_schedules(2, Counting{.rounds = 2, .threads = 3, .options = {.hand_overs_max = 0}}, 40);
}

TEST_CASE("who is handed a lock sees what the thread before wrote on the home of the lock, and on their own node") {
  // No release goes to the home, behind which the put would be there; and two threads have two queue pairs.
  on_many_schedules(2, Counting{.rounds = 2, .threads = 3, .beside_the_lock = true}, 80);
  // What is stored may be in the store buffer of the thread before, where the next one does not look.
  const auto local = [](loco::Transport& node) {
    constexpr std::uint64_t kRounds = 3, kThreads = 3;
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    loco::var<std::uint64_t> counter(mgr, "counter");
    mgr.wait_for_ready();
    loco::workloads::run_team(node, kThreads, [&](std::uint32_t) {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        const std::lock_guard guard(lock);
        counter.store(counter.load() + 1);
      }
    });
    const std::lock_guard guard(lock);
    require(counter.load() == kThreads * kRounds, "no increment is lost");
  };
  on_threads(2, local);
  on_many_schedules(2, local, 80);
}

namespace {

/// What it takes node 1 to lock a mutex of node 0 that nobody else wants: time, and doorbells.
struct FreeLock {
  std::int64_t ps = 0;
  std::uint64_t doorbells = 0;
};

FreeLock free_lock(loco::mutex_options options) {
  loco::ClusterConfig config;
  config.profile = round_profile();
  config.nodes = 2;
  loco::SimulatedCluster cluster(config);
  FreeLock took;
  cluster.spawn_everywhere([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock", 0, options);
    mgr.wait_for_ready();
    if (node.my_node() == 0) return;
    const std::int64_t begin = node.now_ps();
    const std::uint64_t rung = cluster.system().counters().doorbells;
    const std::lock_guard held(lock);
    took = {node.now_ps() - begin, cluster.system().counters().doorbells - rung};
  });
  cluster.run();
  return took;
}

}  // namespace

TEST_CASE("a free lock is one round trip away") {
  // The get that looks whose turn it is goes right behind the atomic that draws the ticket, in one list: both together
  // take less than half as long again as a get.
  const loco::sim::Duration round_trip = Stages{round_profile()}.get_completed();
  const FreeLock took = free_lock({});
  CHECK(took.ps > round_trip.ps);
  CHECK(took.ps < round_trip.ps * 3 / 2);
  CHECK(took.doorbells == 1);
}

TEST_CASE("locks that are let go one after the other share a fence, and need none for their own words") {
  loco::ClusterConfig config;
  config.nodes = 3;
  config.record = true;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex_array locks(mgr, "locks", 2);  // on nodes 0 and 1
    loco::var<std::uint64_t> balance(mgr, "balance");
    mgr.wait_for_ready();
    if (node.my_node() != 2) return;
    const auto transfer = [&](bool writes) {
      locks.lock(0);
      locks.lock(1);
      for (const loco::NodeId to : {0U, 1U})
        if (writes) balance.push(to);
      locks.unlock(1);
      locks.unlock(0);
    };
    transfer(true);
    transfer(false);
  });
  cluster.run();
  const loco::trace::Trace trace = cluster.take_trace();
  std::vector<std::vector<std::uint32_t>> fenced;
  for (const loco::trace::Call& call : trace.calls)
    if (call.method == loco::trace::Method::gf) fenced.push_back(trace.node_sets[call.node_set]);
  CHECK(fenced == std::vector<std::vector<std::uint32_t>>{{0, 1}});
}

TEST_CASE("a lock may be in the memory of the NIC, where it is sooner reached") {
  on_threads(2, Counting{.rounds = 50, .options = {.device_memory = true}});
  on_many_schedules(2, Counting{.options = {.device_memory = true}}, 20);
  // Drawing a ticket is an atomic: on the home node a PCIe read of the word. That it is done is seen once in a turn of
  // the polling thread's loop.
  const Stages stages{round_profile()};
  const auto read = stages.read_request() + stages.read_data(Stages::kWord);
  const auto turn = stages.p.cpu_poll_empty + stages.p.cpu_load;
  CHECK(free_lock({.device_memory = true}).ps < free_lock({}).ps - (read - turn).ps);
}

namespace {
/// How many of so many weak schedules lose an increment, of a counter in the host's memory beside a lock in the NIC's,
/// on a machine that reaches the two on different paths, or on one.
std::uint64_t lost_increments(bool own_path, bool fence_home, std::uint64_t seeds) {
  const Counting counting{.options = {.device_memory = true, .fence_home = fence_home}, .beside_the_lock = true};
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    loco::ClusterConfig config;
    config.nodes = 3;
    config.profile.nic_device_own_path = own_path;
    config.schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
    config.seed = seed;
    config.events_max = 2'000'000;
    loco::SimulatedCluster cluster(config);
    cluster.spawn_everywhere(counting);
    try {
      cluster.run();
    } catch (const loco::ProgramError& error) {
      INFO("seed " << seed << ": " << error.what());
      REQUIRE(std::string(error.what()).find("no increment is lost") != std::string::npos);
      ++lost;
    }
  }
  return lost;
}
}  // namespace

TEST_CASE("where the NIC's memory has a path of its own, a lock there fences its home", "[search]") {
  // A put to the host's memory and then one to the NIC's, which says that the lock is free: nothing orders the two but
  // a read behind the first. Without it the next holder may read the counter too early; on one path it cannot.
  CHECK(lost_increments(true, true, loco::test::some(1000)) == 0);
  CHECK(lost_increments(true, false, 400) > 0);
  CHECK(lost_increments(false, false, loco::test::some(400)) == 0);
}

TEST_CASE("a counter under a mutex is exact, under 10,000 schedules", "[.long]") {
  on_many_schedules(2, Counting{}, 4000);
  on_many_schedules(4, Counting{.rounds = 2}, 2000);
  on_many_schedules(2, Counting{.rounds = 2, .threads = 3}, 4000);
}

namespace {
/// All that an atomic variable does, on one whose home is node 0.
void atomics(loco::Transport& node) {
  loco::manager mgr(node);
  loco::atomic_var<std::uint64_t> sum(mgr, "sum"), turn(mgr, "turn"), last(mgr, "last");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  constexpr std::uint64_t kRounds = 2;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    sum.fetch_add(node.my_node() + 1);
    std::uint64_t seen = turn.load();
    while (!turn.compare_exchange(seen, seen + 1)) {
    }
    last.store(seen);
  }
  bar.waiting();
  const std::uint64_t nodes = node.num_nodes();
  require(sum.load() == kRounds * nodes * (nodes + 1) / 2, "no addition is lost");
  require(turn.load() == kRounds * nodes, "each exchange counts once");
  require(last.load() < kRounds * nodes, "what was exchanged is one of these");
}
}  // namespace

TEST_CASE("atomic variables under 20 weak schedules") { on_many_schedules(3, atomics, 20); }

TEST_CASE("atomic variables under 3,000 weak schedules", "[.long]") {
  on_many_schedules(2, atomics, 1000);
  on_many_schedules(3, atomics, 2000);
}

TEST_CASE("without the fence before the release an increment gets lost") {
  // Section 6.2: the put to the counter's node may be on its way still when the next holder reads there.
  std::uint64_t seed = 0;
  bool lost = false;
  while (!lost && ++seed <= 1000) try {
      (void)on_simulator(3, Counting{.rounds = 4, .options = {.fence = false}}, loco::Schedule::adversarial, seed);
    } catch (const loco::ProgramError& error) {
      lost = std::string(error.what()).find("no increment is lost") != std::string::npos;
      REQUIRE(lost);
    }
  INFO("seeds tried: " << seed);
  CHECK(lost);
}

TEST_CASE("an array of mutexes is striped, and its locks are independent") {
  // Two threads hold two different locks at the same time: each waits, holding its own, until the other has its own.
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex_array locks(mgr, "locks", 5);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (std::uint64_t k = node.my_node(); k < 5; k += node.num_nodes()) {
      locks.lock(k);
      if (k < 2) bar.waiting();
      locks.unlock(k);
    }
    for (std::uint64_t k = 0; k < 5; ++k) {
      locks.lock(k);
      locks.unlock(k);
    }
  };
  on_threads(2, program);
  on_many_schedules(2, program, 20);
}

TEST_CASE("waiting nodes are served in the order of their tickets") {
  // Node 0 holds the lock for 10 us while nodes 1, 2, 3 queue up, 1 us apart (an atomic takes 2 us at most on this
  // machine, the same for all); then they must hold it in that order.
  std::array<std::uint32_t, 4> order{};
  std::atomic<std::uint32_t> served = 0;
  const auto program = [&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    constexpr std::int64_t kMicrosecond = 1'000'000;  // picoseconds
    if (node.my_node() == 0) lock.lock();
    bar.waiting();
    node.compute(kMicrosecond * node.my_node());
    if (node.my_node() != 0) lock.lock();
    if (node.my_node() == 0) node.compute(10 * kMicrosecond);
    order.at(served++) = node.my_node();
    lock.unlock();
  };
  loco::ClusterConfig config;
  config.nodes = 4;
  config.profile = round_profile();
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();
  CHECK(order == std::array<std::uint32_t, 4>{0, 1, 2, 3});
}

TEST_CASE("a lock goes to a waiting thread of the same node first, as often as it may") {
  // Node 1 holds the lock while threads of node 0 queue up for it, then more threads of node 1.
  const auto order = [](std::uint32_t hand_overs, std::array<std::uint32_t, 2> threads = {1, 3}) {
    std::vector<std::uint32_t> holders;
    loco::ClusterConfig config;
    config.profile = round_profile();
    loco::SimulatedCluster cluster(config);
    cluster.spawn_everywhere([&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::mutex lock(mgr, "lock", 0, {.hand_overs_max = hand_overs});
      loco::barrier bar(mgr, "bar");
      mgr.wait_for_ready();
      constexpr std::int64_t kMicrosecond = 1'000'000;  // picoseconds
      if (node.my_node() == 1) lock.lock();
      bar.waiting();
      loco::workloads::run_team(node, threads.at(node.my_node()), [&](std::uint32_t thread) {
        const bool holds = node.my_node() == 1 && thread == 0;
        node.compute(kMicrosecond * (holds ? 30 : 5 * (node.my_node() + thread)));
        if (!holds) lock.lock();
        holders.push_back(node.my_node());
        lock.unlock();
      });
    });
    cluster.run();
    return holders;
  };
  CHECK(order(16) == std::vector<std::uint32_t>{1, 1, 1, 0});
  CHECK(order(1) == std::vector<std::uint32_t>{1, 1, 0, 1});
  CHECK(order(0) == std::vector<std::uint32_t>{1, 0, 1, 1});
  // Each time that the node has the lock.
  CHECK(order(1, {3, 4}) == std::vector<std::uint32_t>{1, 1, 0, 0, 1, 1, 0});
}

TEST_CASE("unlocking what one does not hold is an error") {
  const auto wrong = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    mgr.wait_for_ready();
    if (node.my_node() == 1) lock.unlock();
  };
  CHECK_THROWS_WITH(on_threads(2, wrong), contains_text("lock 0 of 'lock' is not held by thread 0 of node 1"));
  const auto beyond = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex_array locks(mgr, "locks", 3);
    mgr.wait_for_ready();
    if (node.my_node() == 0) locks.lock(3);
  };
  CHECK_THROWS_WITH(on_threads(2, beyond), contains_text("'locks' has 3 locks, no lock 3"));
}

TEST_CASE("locking what one holds already is an error, and the lock is held on") {
  int turns = 0;
  const auto program = [&turns](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    mgr.wait_for_ready();
    loco::workloads::run_team(node, 2, [&](std::uint32_t) {
      const std::lock_guard guard(lock);
      const int turn = ++turns;
      CHECK_THROWS_WITH(lock.lock(), contains_text("lock 0 of 'lock' is held already by thread"));
      node.compute(10'000'000);
      CHECK(turns == turn);  // the other thread waits still
    });
  };
  CHECK(on_simulator(1, program, loco::Schedule::timed, 1, true).consistent());
  CHECK(turns == 2);
}

TEST_CASE("a NIC without remote atomics is an error for each thread that locks, also behind one that caught it") {
  loco::ClusterConfig config;
  config.nodes = 1;
  config.profile.nic_atomic_cap = loco::nic::AtomicCap::none;
  config.refuse_unfit = false;  // it is made, and its first atomic fails
  int refused = 0;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&refused](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    mgr.wait_for_ready();
    loco::workloads::run_team(node, 3, [&](std::uint32_t) {
      try {
        lock.lock();
      } catch (const std::runtime_error&) {
        ++refused;
      }
    });
  });
  cluster.run();
  CHECK(refused == 3);
}

namespace {
/// Each thread takes both locks, those of odd nodes and threads in the other order; with `by_hand`, not by std::lock.
void take_both(loco::Transport& node, bool by_hand) {
  constexpr std::uint64_t kRounds = 3, kThreads = 2;
  loco::manager mgr(node);
  loco::mutex a(mgr, "a", 0), b(mgr, "b", 1);
  mgr.wait_for_ready();
  loco::workloads::run_team(node, kThreads, [&](std::uint32_t thread) {
    const bool other_way = (node.my_node() + thread) % 2 != 0;
    loco::mutex &first = other_way ? b : a, &second = other_way ? a : b;
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      if (!by_hand) {
        const std::scoped_lock both(first, second);
        continue;
      }
      while (true) {
        first.lock();
        if (second.try_lock()) break;
        first.unlock();
      }
      second.unlock();
      first.unlock();
    }
  });
}
}  // namespace

TEST_CASE("who takes two locks in different orders gets them, on machines in step with each other") {
  // Equal machines that begin together find each other's lock taken, let go of their own and go on to that one, all at
  // equal times: without unequal rests, for ever.
  for (const char* hardware : {"cx5-roce-100g", "cx4-ib-edr", "cx6-ib-hdr-metal", ""})
    for (const std::uint32_t nodes : {2U, 3U, 5U})
      for (const bool by_hand : {false, true}) {
        INFO(hardware << ", " << nodes << " nodes, by hand: " << by_hand);
        loco::ClusterConfig config;
        config.nodes = nodes;
        if (*hardware != '\0') config.profile = loco::scenario::load_hardware(hardware).profile;
        config.events_max = 2'000'000;
        loco::SimulatedCluster cluster(config);
        cluster.spawn_everywhere([by_hand](loco::Transport& node) { take_both(node, by_hand); });
        CHECK_NOTHROW(cluster.run());
      }
}

TEST_CASE("std::scoped_lock takes two locks, in whatever order others name them") {
  const auto program = [](loco::Transport& node) {
    constexpr std::uint64_t kRounds = 3;
    loco::manager mgr(node);
    loco::mutex a(mgr, "a", 0), b(mgr, "b", 1);
    loco::mutex_array many(mgr, "many", 4);
    loco::var<std::uint64_t> counter(mgr, "counter");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    loco::mem_ref value(mgr, 8);
    loco::ack_key key(mgr);
    const auto add = [&] {
      mgr.get(value.address(), counter.copy(0), 0, 8, &key);
      key.wait();
      value.store(value.load() + 1);
      mgr.put(value.address(), counter.copy(0), 0, 8, &key);
      key.wait();
    };
    loco::mutex_array::element second = many[2];
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      if (node.my_node() == 0) {
        const std::scoped_lock both(a, b, second);
        add();
      } else {
        const std::scoped_lock both(second, b, a);
        add();
      }
    }
    bar.waiting();
    if (node.my_node() == 0) require(counter.load() == node.num_nodes() * kRounds, "no increment is lost");
  };
  on_threads(2, program);
  on_many_schedules(2, program, 30);
}

TEST_CASE("a lock that is held, or waited for, is not taken by those who try") {
  loco::ClusterConfig config;
  config.profile = round_profile();
  config.nodes = 2;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) {
      require(lock.try_lock(), "a free lock is taken");
      bar.waiting();
      node.compute(1'000'000'000);  // 1 ms
      lock.unlock();
    } else {
      bar.waiting();
      require(!lock.try_lock(), "node 0 has it");
      require(!lock.try_lock_for(std::chrono::microseconds(100)), "still");
      const std::int64_t begin = node.now_ps();
      require(lock.try_lock_for(std::chrono::milliseconds(2)), "it has come free");
      require(node.now_ps() - begin < 1'150'000'000, "an eighth of the time until then later at most");
      lock.unlock();
    }
  });
  cluster.run();
}

TEST_CASE("locks are what std::unique_lock wants of a timed one, by the clock of the run") {
  loco::ClusterConfig config;
  config.profile = round_profile();
  config.nodes = 2;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    loco::mutex_array locks(mgr, "locks", 2);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    using std::chrono::microseconds;
    auto second = locks[1];
    if (node.my_node() == 0) {
      const std::scoped_lock both(lock, second);
      bar.waiting();
      bar.waiting();
    } else {
      bar.waiting();
      const auto end = loco::run_clock::now(node) + microseconds(50);
      const std::unique_lock late(lock, end);
      const std::unique_lock element(second, microseconds(20));
      const std::unique_lock over(lock, end);
      require(!late && !element && !over, "node 0 has them");
      const auto now = loco::run_clock::now(node);
      require(now >= end + microseconds(20) && now < end + microseconds(40), "it waits for so long, and no longer");
      bar.waiting();
      const std::unique_lock held(lock, std::chrono::hours(1'000'000));  // longer than a run can be
      const std::unique_lock one(second, end + std::chrono::seconds(1));
      require(held.owns_lock() && one.owns_lock(), "they have come free");
    }
    bar.waiting();
  });
  cluster.run();
}

TEST_CASE("nodes that give a mutex other options are told so") {
  loco::ClusterConfig config;
  config.nodes = 2;
  loco::SimulatedCluster cluster(config);
  std::string said;
  cluster.spawn_everywhere([&](loco::Transport& node) {
    loco::manager mgr(node);
    try {
      loco::mutex lock(mgr, "lock", 0, {.fence = node.my_node() == 0});
      mgr.wait_for_ready();
    } catch (const loco::setup_error& error) {
      said = error.what();
    }
  });
  cluster.run();
  CHECK_THAT(said, contains_text("without fences"));
}

TEST_CASE("a run that waits for a lock says who has it, and names the circle") {
  const auto told = [](const std::function<void(loco::Transport&)>& program) {
    loco::ClusterConfig config;
    config.nodes = 3;
    loco::SimulatedCluster cluster(config);
    cluster.spawn_everywhere(program);
    try {
      cluster.run();
    } catch (const loco::Deadlock& deadlock) {
      return std::string(deadlock.what());
    }
    return std::string("it ended");
  };
  const std::string circle = told([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex_array locks(mgr, "acc", 3);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    locks.lock(node.my_node());
    bar.waiting();
    locks.lock((node.my_node() + 1) % 3);
  });
  CHECK_THAT(circle,
             contains_text("waits for lock 1 of 'acc', held by thread main of node 1") &&
                 contains_text("locks in a circle: ") &&
                 contains_text("thread main of node 2 waits for lock 0 of 'acc', held by thread main of node 0"));
  const std::string ended = told([](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock");
    mgr.wait_for_ready();
    if (node.my_node() == 1) node.compute(1'000'000'000);
    if (node.my_node() != 2) lock.lock();
  });
  CHECK_THAT(ended, contains_text("waits for lock 0 of 'lock', held by thread main of node 0, which has ended"));
}
